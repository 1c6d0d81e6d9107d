import { sample } from 'fast-check'
import { mergePieces } from './config-file.ts'
import type { Drawn, Feature, Row, Surroundings, Value } from './feature.ts'

/** Whether all of its values can stand beside each other; the row may be a part of one. */
export function fits(features: readonly Feature[], row: Row): boolean {
  return features.every((feature) => {
    if (row[feature.name] === undefined) return true
    const { fits = () => true } = valueOf(feature, row)
    return fits(row)
  })
}

/** Nothing is on. */
export function offRow(features: readonly Feature[]): Row {
  return Object.fromEntries(features.map(({ name, values }) => [name, values[0].name]))
}

export function valueOf({ name, values }: Feature, row: Row): Value {
  const found = values.find((value) => value.name === (row[name] ?? values[0].name))
  if (!found) throw new Error(`The feature ${name} has no value ${row[name]}.`)
  return found
}

/** Draws the pieces of a row. What one feature draws does not hang on which others are on. */
export function drawRow(
  features: readonly Feature[],
  row: Row,
  seed: number,
  given: Omit<Surroundings, 'kinds'>,
): readonly Drawn[] {
  const surroundings = { ...given, kinds: kindsOf(features.map((feature) => valueOf(feature, row))) }
  return features.map((feature) => {
    const value = valueOf(feature, row)
    const arbitrary = value.config?.(surroundings)
    const [piece = {}] = arbitrary ? sample(arbitrary, { seed: seedOf(seed, feature.name), numRuns: 1 }) : []
    return { feature, value, piece }
  })
}

function seedOf(seed: number, name: string): number {
  let hash = seed
  for (const character of name) hash = (Math.imul(hash, 31) + character.charCodeAt(0)) | 0
  return hash
}

/** Paths that the drawn config gives to the GraphQL endpoint, and to the probe of readiness. */
export function pathsOf(drawn: readonly Drawn[]): { readonly graphql: string; readonly ready: string } {
  const { graphql = {}, server = {} } = mergePieces(drawn.map(({ piece }) => piece)) as {
    readonly graphql?: { readonly path?: string }
    readonly server?: { readonly readinessPath?: string }
  }
  return { graphql: graphql.path ?? '/graphql', ready: server.readinessPath ?? '/health/ready' }
}

/** Each pair of values in a row, as a text. */
export function pairsOf(features: readonly Feature[], row: Row): readonly string[] {
  const held = features.map(({ name }) => `${name}=${row[name]}`)
  return held.flatMap((one, index) => held.slice(index + 1).map((other) => `${one} × ${other}`))
}

/** Kinds of operations that clients can ask beside these values. */
export function kindsOf(values: readonly Value[]): ReadonlySet<string> {
  return new Set(['base', ...values.flatMap(({ operations = [] }) => operations)])
}
