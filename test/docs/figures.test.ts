import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { figureTables, measured } from './support/figures.ts'

const TABLE = /(?:^\|.*\|\n)+/gm

/** Returns a table without the padding that the formatter adds. */
const compact = (table: string): string =>
  table
    .trim()
    .replaceAll(/ *\| */g, '|')
    .replaceAll(/-{3,}/g, '---')
    .replaceAll(/-+:/g, '--:')
const headOf = (table: string): string => compact(table).split('\n')[0] ?? ''

// To write the tables after a change of the file: `WRITE_FIGURES=1 pnpm test:docs figures`, then `pnpm format`.
it.each(Object.entries(figureTables))('%s shows the figures of test/bench/figures.json', (page, tables) => {
  const path = new URL(`../../${page}`, import.meta.url)
  const generated = new Map(tables.map((table) => [headOf(table), table]))
  if (process.env['WRITE_FIGURES']) {
    const write = (table: string): string => `${generated.get(headOf(table)) ?? table.trim()}\n`
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(TABLE, write))
  }
  const written = readFileSync(path, 'utf8').match(TABLE) ?? []
  const shown = written.filter((table) => generated.has(headOf(table)))
  expect(shown.map(compact).toSorted()).toEqual(tables.map(compact).toSorted())
})

it('docs/performance.md names the dates of the runs', () => {
  const page = readFileSync(new URL('../../docs/performance.md', import.meta.url), 'utf8')
  expect(page.replaceAll(/\s+/g, ' ')).toContain(`from ${measured}`)
})
