import type { GraphQLField } from 'graphql'
import { LIVE_OPTIONS, type LiveOptions, toVolatility, type Volatility } from '@vinyasa/core'
import { invalidLiveOption } from '../errors.ts'
import type { LiveQueryStrategy } from '../options.ts'
import { isTrigger } from '../triggers/triggers.ts'

/** The options of a field with all defaults applied. */
export type ResolvedFieldOptions = {
  readonly [Name in Exclude<keyof LiveOptions, 'volatility'>]-?: NonNullable<LiveOptions[Name]>
} & { readonly volatility: Volatility | undefined }

/**
 * Merges the options of the plugin, the options of the field's source and the defaults, in this order of precedence.
 * Throws a `GraphQLError` with the field and the option if a value is invalid.
 */
export function resolveFieldOptions(
  field: GraphQLField<unknown, unknown>,
  fields: Readonly<Record<string, LiveOptions>>,
  defaults: LiveOptions,
): ResolvedFieldOptions {
  const given = layer(field, fields, defaults)
  const { enabled = false, strategy = 'INVALIDATION', triggers = [], dependsOn = [], volatility } = given
  const {
    throttleMs = 100,
    pollIntervalMs = 1000,
    ttlSeconds = 0,
    maxConnections = 0,
    filter = 'backend',
  } = given
  const check = (option: string, isValid: boolean, expected: string, value: unknown): void => {
    if (!isValid) throw invalidLiveOption(`"${option}" of Query.${field.name}`, expected, value)
  }
  check('enabled', typeof enabled === 'boolean', 'true or false', enabled)
  check('strategy', isStrategy(strategy), 'INVALIDATION, POLLING or HASH_DIFF', strategy)
  check(
    'volatility',
    volatility === undefined || toVolatility(volatility) !== undefined,
    'VeryHigh, High, Medium, Low or VeryLow',
    volatility,
  )
  check('filter', filter === 'backend' || filter === 'gateway', 'backend or gateway', filter)
  for (const trigger of triggers)
    check('triggers', isTrigger(trigger), 'patterns like "User.update" or "User.*"', trigger)
  for (const type of dependsOn) check('dependsOn', isTrigger(`${type}.*`), 'type names', type)
  const numbers = { throttleMs, pollIntervalMs, ttlSeconds, maxConnections }
  for (const name of Object.keys(numbers) as (keyof typeof numbers)[])
    check(name, LIVE_OPTIONS[name].has(numbers[name]), LIVE_OPTIONS[name].expected, numbers[name])
  return { enabled, strategy, triggers, dependsOn, ...numbers, volatility: toVolatility(volatility), filter }
}

/** Merges options. Later options take precedence. An unset option does not override an earlier value. */
function layer(
  field: GraphQLField<unknown, unknown>,
  fields: Readonly<Record<string, LiveOptions>>,
  defaults: LiveOptions,
): LiveOptions {
  const configured = Object.hasOwn(fields, field.name) ? fields[field.name] : undefined
  const written: unknown = field.extensions['liveQuery']
  const result: Record<string, unknown> = {}
  for (const options of [defaults, written, configured && { enabled: true }, configured]) {
    if (typeof options !== 'object' || options === null) continue
    for (const [key, value] of Object.entries(options)) if (value !== undefined) result[key] = value
  }
  return result
}

function isStrategy(value: unknown): value is LiveQueryStrategy {
  return value === 'INVALIDATION' || value === 'POLLING' || value === 'HASH_DIFF'
}
