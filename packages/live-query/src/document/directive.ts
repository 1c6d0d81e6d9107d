import {
  DirectiveLocation,
  type DocumentNode,
  GraphQLBoolean,
  GraphQLDirective,
  type GraphQLField,
  GraphQLInt,
  GraphQLNonNull,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql'
import { directiveArgument, schemaWith, withDefaults, withoutDirectives } from '@vinyasa/core/documents'
import { LIVE_OPTIONS, type LiveOptions, toVolatility, type Volatility } from '@vinyasa/core'
import { invalidLiveOption } from '../errors.ts'
import type { LiveQueryStrategy } from '../options.ts'
import { isTrigger } from '../triggers/triggers.ts'

/** `directive @live(if: Boolean! = true, throttle: Int) on QUERY` */
export const GraphQLLiveDirective: GraphQLDirective = new GraphQLDirective({
  name: 'live',
  description: 'Sends the complete result again whenever its data changes.',
  locations: [DirectiveLocation.QUERY],
  args: {
    if: {
      type: new GraphQLNonNull(GraphQLBoolean),
      defaultValue: true,
      description: 'If false, the query is not live.',
    },
    throttle: {
      type: GraphQLInt,
      description: 'Minimum milliseconds between two updates; the server can enforce a longer interval.',
    },
  },
})

/** Adds `@live` to a schema. Returns the same schema if it already contains the directive. */
export function addLiveDirective(schema: GraphQLSchema): GraphQLSchema {
  if (schema.getDirective('live')) return schema
  return schemaWith(schema, { directives: [...schema.getDirectives(), GraphQLLiveDirective] })
}

/** Returns whether an operation of the document has `@live`, regardless of its `if` argument. */
export function hasLiveDirective(document: DocumentNode): boolean {
  return document.definitions.some(
    (definition) =>
      definition.kind === Kind.OPERATION_DEFINITION &&
      definition.directives?.some((directive) => directive.name.value === 'live') === true,
  )
}

/** Returns the arguments of the operation's `@live`. Returns `undefined` without the directive, or if `if` is false. */
export function liveDirectiveValues(
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): { readonly throttleMs: number | undefined } | undefined {
  const directive = operation.directives?.find(({ name }) => name.value === 'live')
  if (!directive) return undefined
  // `getDirectiveValues` is not used, because the format of its variables depends on the version of graphql.
  const known = withDefaults(operation, variables)
  if (directiveArgument(directive, 'if', known) === false) return undefined
  const throttle = directiveArgument(directive, 'throttle', known)
  return { throttleMs: typeof throttle === 'number' ? Math.max(0, throttle) : undefined }
}

const NAMES = new Set(['live', 'defer', 'stream'])

/**
 * Removes `@live`, and `@defer` and `@stream`, because every update is a complete result. Variables that only these
 * directives use are removed too, so that the document remains valid.
 */
export function stripLiveDirective(document: DocumentNode): DocumentNode {
  return withoutDirectives(document, NAMES)
}

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
