import { createRandom, type Random } from '@vinyasa/test-kit'
import { fits, pairsOf } from './draw-row.ts'
import type { Feature, Row } from './feature.ts'

/** Rows that are tried for each that is taken. */
const TRIES = 8

/** Features of which each value stands beside each pair of one of the second and one of the third kind. */
export type Triples = readonly [readonly string[], readonly string[], readonly string[]]

/**
 * Rows in which each value of each feature stands beside each of every other, as far as both fit, and all threes of `triples`
 * after them: greedily, the row that has most new ones first. `covertable`, the one kept library, leaves out a pair in eight where values do not fit each other.
 */
export function coveringRows(features: readonly Feature[], seed: number, triples: Triples): readonly Row[] {
  const random = createRandom(seed, 'rows')
  const rows: Row[] = []
  const coveredBy = (row: Row): readonly string[] => [...pairsOf(features, row), ...triplesOf(triples, row)]
  for (const missing of [allPairs(features), allTriples(features, triples)]) {
    for (const row of rows) for (const text of coveredBy(row)) missing.delete(text)
    for (let [first] = missing.values(); first !== undefined; [first] = missing.values()) {
      const tried = Array.from({ length: TRIES }, () => {
        const row = fill(features, missing.values().next().value as Row, { missing, triples, random })
        return { row, covers: row ? coveredBy(row).filter((text) => missing.has(text)) : [] }
      })
      const { row, covers } = tried.reduce((best, one) =>
        one.covers.length > best.covers.length ? one : best,
      )
      if (!row) throw new Error(`No row can hold ${JSON.stringify(first)}.`)
      rows.push(row)
      for (const text of covers) missing.delete(text)
    }
  }
  return rows
}

/** Each three of values that fit each other, by its text. */
export function allTriples(features: readonly Feature[], triples: Triples): Map<string, Row> {
  const [ones, others, thirds] = triples.map((names) =>
    features
      .filter(({ name }) => names.includes(name))
      .flatMap(({ name, values }) => values.map((value) => ({ [name]: value.name }))),
  ) as [Row[], Row[], Row[]]
  const rows = ones.flatMap((one) =>
    others.flatMap((other) => thirds.map((third) => ({ ...one, ...other, ...third }))),
  )
  return new Map(rows.filter((row) => fits(features, row)).map((row) => [textOf(row), row]))
}

/** Each three of values in a row, which may be a part of one, as a text. */
export function triplesOf(triples: Triples, row: Row, only?: string): readonly string[] {
  const [ones, others, thirds] = triples.map((names) =>
    (only !== undefined && names.includes(only) ? [only] : names)
      .filter((name) => row[name] !== undefined)
      .map((name) => `${name}=${row[name]}`),
  ) as [string[], string[], string[]]
  return ones.flatMap((one) =>
    others.flatMap((other) => thirds.map((third) => `${one} × ${other} × ${third}`)),
  )
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

interface Wanted {
  readonly missing: ReadonlyMap<string, Row>
  readonly triples: Triples
  readonly random: Random
}

/** Gives every feature the value that brings most new pairs, in a drawn order. Undefined: nothing fits any more. */
function fill(
  features: readonly Feature[],
  begun: Row,
  { missing, triples, random }: Wanted,
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
        gain:
          gainOf(features, candidate, feature, missing) +
          (triples.some((names) => names.includes(feature.name))
            ? triplesOf(triples, candidate, feature.name).filter((text) => missing.has(text)).length
            : 0) +
          random.next(),
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
