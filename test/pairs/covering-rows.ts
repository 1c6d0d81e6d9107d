import { createRandom, type Random } from '@vinyasa/test-kit'
import { fits, pairsOf } from './draw-row.ts'
import type { Feature, Row } from './feature.ts'

/** Rows that are tried for each that is taken. */
const TRIES = 8

/**
 * Rows in which each value of each feature stands beside each of every other, as far as both fit: greedily, the row that has
 * most new pairs first. `covertable`, the one kept library, leaves out a pair in eight where values do not fit each other.
 */
export function coveringRows(features: readonly Feature[], seed: number): readonly Row[] {
  const random = createRandom(seed, 'rows')
  const missing = allPairs(features)
  const rows: Row[] = []
  for (let [first] = missing.values(); first !== undefined; [first] = missing.values()) {
    const tried = Array.from({ length: TRIES }, () => {
      const row = fill(features, missing.values().next().value as Row, missing, random)
      return { row, covers: row ? pairsOf(features, row).filter((pair) => missing.has(pair)) : [] }
    })
    const { row, covers } = tried.reduce((best, one) => (one.covers.length > best.covers.length ? one : best))
    if (!row) throw new Error(`No row can hold ${JSON.stringify(first)}.`)
    rows.push(row)
    for (const pair of covers) missing.delete(pair)
  }
  return rows
}

/** Each pair of values that fit each other, by its text. */
export function allPairs(features: readonly Feature[]): Map<string, Row> {
  const ofTwo = (one: Feature, other: Feature): Row[] =>
    one.values.flatMap(({ name }) =>
      other.values.map((beside) => ({ [one.name]: name, [other.name]: beside.name })),
    )
  const rows = features.flatMap((one, index) =>
    features.slice(index + 1).flatMap((other) => ofTwo(one, other)),
  )
  return new Map(rows.filter((row) => fits(features, row)).map((row) => [textOf(row), row]))
}

const textOf = (row: Row): string =>
  Object.entries(row)
    .map(([name, value]) => `${name}=${value}`)
    .join(' × ')

/** Gives every feature the value that brings most new pairs, in a drawn order. Undefined: nothing fits any more. */
function fill(
  features: readonly Feature[],
  begun: Row,
  missing: ReadonlyMap<string, Row>,
  random: Random,
): Row | undefined {
  let row = begun
  const order = features
    .map((feature) => ({ feature, place: random.next() }))
    .sort((a, b) => a.place - b.place)
  for (const { feature } of order) {
    if (row[feature.name] !== undefined) continue
    const candidates = feature.values
      .map(({ name }) => ({ ...row, [feature.name]: name }))
      .filter((candidate) => fits(features, candidate))
      .map((candidate) => ({
        candidate,
        gain: gainOf(features, candidate, feature, missing) + random.next(),
      }))
    const best = candidates.sort((a, b) => b.gain - a.gain)[0]
    if (!best) return undefined
    row = best.candidate
  }
  return row
}

function gainOf(
  features: readonly Feature[],
  row: Row,
  { name }: Feature,
  missing: ReadonlyMap<string, Row>,
): number {
  const mine = `${name}=${row[name]}`
  const at = features.findIndex((feature) => feature.name === name)
  return features.filter((other, index) => {
    if (row[other.name] === undefined || index === at) return false
    const its = `${other.name}=${row[other.name]}`
    return missing.has(index < at ? `${its} × ${mine}` : `${mine} × ${its}`)
  }).length
}
