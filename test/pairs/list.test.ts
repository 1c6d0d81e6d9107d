import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { gatewayConfig } from '../../apps/gateway/src/config/schema.ts'
import { allPairs, allTriples, coveringRows, triplesOf } from './covering-rows.ts'
import { fits, pairsOf } from './draw-row.ts'
import { isBeside } from './faults/fault.ts'
import { FAULTS } from './faults/list.ts'
import type { Row } from './feature.ts'
import { FEATURES, TRIPLES } from './features.ts'
import { NOT_DRAWN } from './not-drawn.ts'
import { offRow } from './draw-row.ts'
import { isSet, samplesOf, settingsOf } from './settings.ts'
import { openFolder } from './start.ts'

const settings = settingsOf(gatewayConfig)
const notDrawn = new Set(Object.values(NOT_DRAWN).flat())
/** Nobody is asked. */
const NOWHERE = { grpc: 'host:1', rest: 'http://host', kinds: new Set(['base']), redisUrl: '', natsUrl: '' }
const drawnRows = new Map<number, readonly Row[]>()
function rowsOf(seed: number): readonly Row[] {
  const rows = drawnRows.get(seed) ?? coveringRows(FEATURES, seed, TRIPLES)
  drawnRows.set(seed, rows)
  return rows
}

it('a feature says which sections of the config it draws, and draws no other', () => {
  using folder = openFolder()
  for (const feature of FEATURES) {
    const sections = new Set(samplesOf([feature], { ...NOWHERE, folder: folder.path }).flatMap(Object.keys))
    const said = feature.settings.filter((name) => settings.some((setting) => setting.startsWith(name)))
    expect([feature.name, said.filter((name) => !sections.has(name))]).toEqual([feature.name, []])
    expect([feature.name, [...sections].filter((name) => !said.includes(name))]).toEqual([feature.name, []])
  }
})

it('every setting of the config is drawn by a feature, or listed as not drawn', () => {
  using folder = openFolder()
  const pieces = samplesOf(FEATURES, { ...NOWHERE, folder: folder.path })
  const drawn = settings.filter((setting) => pieces.some((piece) => isSet(piece, setting)))
  expect(settings.filter((setting) => !drawn.includes(setting))).toEqual(
    settings.filter((setting) => notDrawn.has(setting)),
  )
  expect([...notDrawn].filter((setting) => !settings.includes(setting))).toEqual([])
  expect(readFileSync(new URL('PAIRS.md', import.meta.url), 'utf8')).toContain(
    `${drawn.length} of the ${settings.length} settings`,
  )
})

it.each([1, 2])(
  'the rows of seed %i have every pair of values that fit each other, and every three that is asked for',
  (seed) => {
    const rows = rowsOf(seed)
    const covered = new Set(rows.flatMap((row) => pairsOf(FEATURES, row)))
    expect([...allPairs(FEATURES).keys()].filter((pair) => !covered.has(pair))).toEqual([])
    const threes = new Set(rows.flatMap((row) => triplesOf(TRIPLES, row)))
    expect([...allTriples(FEATURES, TRIPLES).keys()].filter((three) => !threes.has(three))).toEqual([])
    expect(rows.filter((row) => !fits(FEATURES, row))).toEqual([])
    expect(coveringRows(FEATURES, seed, TRIPLES)).toEqual(rows)
  },
)

it('nothing on fits', () => {
  expect(fits(FEATURES, offRow(FEATURES))).toBe(true)
})

it('PAIRS.md lists the features, their values and the pairs that they make', () => {
  const text = readFileSync(new URL('PAIRS.md', import.meta.url), 'utf8')
  const listed = [...text.matchAll(/^\| `(\w+)` +\| (.*?) *\|/gm)].map(([, name, values]) => [name, values])
  const values = FEATURES.map(({ name, values }) => [name, values.map((value) => value.name).join(', ')])
  expect(listed).toEqual(values)
  expect(text).toContain(`${allPairs(FEATURES).size.toLocaleString('en')} pairs`)
  expect(text).toContain(`${allTriples(FEATURES, TRIPLES).size.toLocaleString('en')} threes`)
  expect(text).toContain(`${rowsOf(1).length} rows`)
})

it.each(FAULTS)('a row has what shows the fault: $name', (fault) => {
  expect(rowsOf(1).filter((row) => isBeside(fault, row))).not.toEqual([])
})
