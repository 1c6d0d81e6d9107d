import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parseConfig } from '../src/config/file/parse-config.ts'

const PAGE = readFileSync(new URL('../../../docs/security.md', import.meta.url), 'utf8')
const options = [...PAGE.matchAll(/^\|[^|]*\| `([a-z]\w*(?:\.\w+)+)`/gm)].map(([, option = '']) => option)

function configOf(option: string, value: number): object {
  return option.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object
}

it('lists the bounds', () => {
  expect(options.length).toBeGreaterThan(25)
})

it.each(options)('%s, named in docs/security.md, is an option of the config', (option) => {
  expect(parseConfig(configOf(option, 1))).toEqual(configOf(option, 1))
})

it('lists every limit and client timeout of the config in docs/security.md', () => {
  const schema = readFileSync(new URL('../src/config/schema.ts', import.meta.url), 'utf8')
  const names = [...schema.matchAll(/^\s+(max\w+|\w+TimeoutMs): (?:count|milliseconds)/gm)].map(
    ([, name = '']) => name,
  )
  /** Bounds of what the operator's own settings do. */
  const others = new Set([
    'maxDeferredFragments',
    'fragmentTimeoutMs',
    'maxTotalTimeoutMs',
    'maxBatchSize',
    'maxWaitMs',
    'maxAgeSeconds',
  ])
  const listed = new Set(options.map((option) => option.split('.').at(-1)))
  expect(names.filter((name) => !listed.has(name) && !others.has(name))).toEqual([])
})
