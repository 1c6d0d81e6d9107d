import type { DocumentNode, FieldNode, GraphQLField, GraphQLSchema, OperationDefinitionNode } from 'graphql'
import { forEachField, fragmentsOf } from '@vinyasa/documents'
import type { Dependencies } from '@vinyasa/invalidation'
import type { LiveOptions, Volatility } from '@vinyasa/base'
import { liveQueryNotEnabled } from '../errors.ts'
import { resolveFieldOptions, type ResolvedFieldOptions } from './field-options.ts'
import type { LiveQueryStrategy } from '../options.ts'
import { triggersOfField } from '../triggers/field-triggers.ts'

/** How one live operation is kept true: the options of all its root fields, merged. */
export interface LivePlan {
  readonly strategy: LiveQueryStrategy
  readonly triggers: readonly string[]
  /**
   * Changes may come that hit no trigger: the query is polled, or has a list of its own. Who joins then gets no result
   * from before any event, whatever it says. Default `false`.
   */
  readonly isPartial?: boolean | undefined
  readonly throttleMs: number
  readonly pollIntervalMs: number
  readonly ttlSeconds: number
  readonly volatility: Volatility | undefined
  /** Root fields with a limit of their own. */
  readonly maxConnections: ReadonlyMap<string, number>
}

export interface PlanInput {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  readonly fields: Readonly<Record<string, LiveOptions>>
  readonly defaults: LiveOptions
  /** The throttle that the client asked for with `@live(throttle:)`. */
  readonly throttleMs: number | undefined
  readonly dependencies: Dependencies
}

/** Merges the options of the operation's root fields. Throws a `GraphQLError` when one may not be live. */
export function planLiveQuery(input: PlanInput): LivePlan {
  const { schema, document, operation } = input
  const queryType = schema.getQueryType()
  const merged: FieldPlan[] = []
  // Skipped ones too, as a variable may bring them back.
  forEachField({ fragments: fragmentsOf(document) }, [operation.selectionSet], (node) => {
    const field = queryType?.getFields()[node.name.value]
    // Without one it is `__typename`, which never changes.
    if (field) merged.push(planField(input, field, node))
  })
  return mergePlans(merged, input.throttleMs)
}

interface FieldPlan extends ResolvedFieldOptions {
  readonly name: string
  readonly isPartial: boolean
}

function planField(input: PlanInput, field: GraphQLField<unknown, unknown>, node: FieldNode): FieldPlan {
  const options = resolveFieldOptions(field, input.fields, input.defaults)
  if (!options.enabled) throw liveQueryNotEnabled(field.name)
  const { strategy, triggers, dependsOn } = options
  const { schema, document, dependencies } = input
  return {
    ...options,
    name: field.name,
    isPartial: strategy !== 'INVALIDATION' || triggers.length > 0,
    // What is stated runs a polled field beside its interval, too; nothing else is derived for one.
    triggers:
      strategy === 'INVALIDATION'
        ? triggersOfField({ schema, document, dependencies, field, node, explicit: triggers, dependsOn })
        : [...triggers, ...dependsOn.map((type) => `${type}.*`)],
  }
}

function mergePlans(fields: readonly FieldPlan[], clientThrottleMs: number | undefined): LivePlan {
  const polling = fields.filter((field) => field.strategy !== 'INVALIDATION')
  const ttls = fields.map((field) => field.ttlSeconds).filter((ttl) => ttl > 0)
  return {
    strategy: mergeStrategies(fields),
    triggers: [...new Set(fields.flatMap((field) => field.triggers))],
    isPartial: fields.some((field) => field.isPartial),
    throttleMs: Math.max(clientThrottleMs ?? 0, ...fields.map((field) => field.throttleMs)),
    pollIntervalMs: Math.min(...polling.map((field) => field.pollIntervalMs)),
    ttlSeconds: ttls.length > 0 ? Math.min(...ttls) : 0,
    volatility: mostVolatile(fields),
    maxConnections: new Map(
      fields
        .filter((field) => field.maxConnections > 0)
        .map((field) => [field.name, field.maxConnections] as const),
    ),
  }
}

function mergeStrategies(fields: readonly FieldPlan[]): LiveQueryStrategy {
  if (fields.some((field) => field.strategy === 'POLLING')) return 'POLLING'
  return fields.some((field) => field.strategy === 'HASH_DIFF') ? 'HASH_DIFF' : 'INVALIDATION'
}

/** A result is as volatile as its most volatile part; a part of unknown volatility leaves the whole unknown. */
function mostVolatile(fields: readonly FieldPlan[]): Volatility | undefined {
  const order: readonly Volatility[] = ['VeryHigh', 'High', 'Medium', 'Low', 'VeryLow']
  if (fields.some((field) => field.volatility === undefined)) return undefined
  return order.find((level) => fields.some((field) => field.volatility === level))
}
