import { type GraphQLSchema, isScalarType, isSpecifiedScalarType } from 'graphql'
import type { GatewayConfig } from '../../config/types.ts'
import { compareSchemas, type Finding } from './compare-schemas.ts'
import { describeUntried, findMends, type Mend, type SchemaOf } from './mend.ts'
import { describeSetting, withSettings, ownCoordinate, type Setting } from './settings.ts'

/**
 * 64-bit integers that are texts of digits: a schema does not tell whether they were. One of ours does, by the scalar's
 * description, and so it does where nothing has changed.
 */
function describeValues(
  before: GraphQLSchema,
  after: GraphQLSchema,
  { grpc = {}, rest = {} }: GatewayConfig,
): readonly string[] {
  const asNumbers = (section: string, name: string): Setting => ({
    path: [section, name, 'int64'],
    value: 'number-when-safe',
  })
  return Object.values(before.getTypeMap()).flatMap((old) => {
    const now = after.getType(old.name)
    if (!isScalarType(old) || !isScalarType(now) || isSpecifiedScalarType(now)) return []
    if (old.description === now.description) return []
    const ofRest = Object.entries(rest).flatMap(([name, options]) =>
      options.int64 === undefined && ownCoordinate(now.name, options) === 'Long'
        ? [[asNumbers('rest', name)]]
        : [],
    )
    const ofGrpc = Object.entries(grpc).flatMap(([name, options]) => {
      if (options.int64 !== 'bigint-scalar' || ownCoordinate(now.name, options) !== 'BigInt') return []
      const rename: Setting = { path: ['grpc', name, 'rename', 'Long'], value: now.name }
      return [[asNumbers('grpc', name), rename]]
    })
    return [...ofRest, ...ofGrpc].map(
      (settings) =>
        `values   ${now.name} is a string of digits; if clients received numbers before, set ${settings.map(describeSetting).join(' and ')}`,
    )
  })
}

export interface Difference {
  /** A line each, as `check` prints them. */
  readonly lines: readonly string[]
  /** How many findings break clients. */
  readonly breaking: number
}

/** What clients of the schema `before` would notice, and the settings that fix it. */
export async function describeDifference(
  before: GraphQLSchema,
  after: GraphQLSchema,
  config: GatewayConfig,
  schemaOf: SchemaOf,
): Promise<Difference> {
  const findings = await compareSchemas(before, after)
  const breaking = count(findings, 'breaking')
  const summary = `against  ${breaking} breaking, ${count(findings, 'dangerous')} dangerous`
  if (findings.length === 0) return { lines: [summary, ...describeValues(before, after, config)], breaking }
  const mended = await findMends(before, after, config, schemaOf)
  const { mends, left, schema } = mended
  const settings = mends.map(({ setting }) => setting)
  const used = new Set(findings.flatMap((one) => mends.filter((fix) => isFor(fix, one))))
  const others = mends.filter((fix) => !used.has(fix))
  const known = new Set(findings.map(({ message }) => message))
  return {
    breaking,
    lines: [
      summary,
      ...findings.map((one) => lineOf(one, mends)),
      ...others.map(({ setting }) => `suggested ${describeSetting(setting)}`),
      ...(mends.length === 0
        ? []
        : [
            `remaining ${count(left, 'breaking')} breaking, ${count(left, 'dangerous')} dangerous with these settings`,
          ]),
      ...left.filter(({ message }) => !known.has(message)).map((one) => lineOf(one, [])),
      ...describeUntried(mended),
      ...describeValues(before, schema, withSettings(config, settings)),
    ],
  }
}

function count(findings: readonly Finding[], level: Finding['level']): number {
  return findings.filter((one) => one.level === level).length
}

function lineOf(finding: Finding, mends: readonly Mend[]): string {
  const own = mends.filter(({ message }) => message === finding.message)
  const named = mends.find((one) => isFor(one, finding))
  const meant = own.length > 0 || !named ? own : [named]
  const set = meant.map(({ setting }) => describeSetting(setting)).join(' and ')
  return `${finding.level} ${finding.message}${set && `; set ${set}`}`
}

/** Whether the finding is that a name is gone which the setting gives back, of itself or of a type. */
function isFor({ coordinate, message: own }: Mend, { path, oldType, message }: Finding): boolean {
  if (own !== undefined) return own === message
  if (coordinate === undefined) return false
  return coordinate === oldType || coordinate.replace(/\((.*):\)$/, '.$1') === path
}
