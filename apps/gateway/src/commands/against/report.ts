import type { GraphQLSchema } from 'graphql'
import type { GatewayConfig } from '../../config/types.ts'
import { compareSchemas, type Finding } from './compare-schemas.ts'
import { describeUntried, findMends, type Mend, type SchemaOf } from './mend.ts'
import { describeSetting, withSettings } from './settings.ts'
import { describeValues } from './values.ts'

export interface Difference {
  /** A line each, as `check` prints them. */
  readonly lines: readonly string[]
  /** How many findings break clients. */
  readonly breaking: number
}

/** What clients of the schema `before` would notice, and the settings that mend it. */
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
  const used = new Set(findings.flatMap((one) => mends.filter((mend) => isFor(mend, one))))
  const others = mends.filter((mend) => !used.has(mend))
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
