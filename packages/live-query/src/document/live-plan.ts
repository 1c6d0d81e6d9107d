import { createHash } from 'node:crypto'
import {
  type DocumentNode,
  type FieldNode,
  getNamedType,
  type GraphQLField,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  print,
} from 'graphql'
import { forEachField, fragmentsOf, possibleObjects } from '@vinyasa/core/documents'
import {
  createDependencyCache,
  type Dependence,
  type Dependencies,
  describeOperationVariesBy,
  type SelectedField,
  selectOperation,
  type VariesBy,
} from '@vinyasa/invalidation'
import { keyed, type LiveOptions, type Volatility } from '@vinyasa/core'
import { liveQueryNotEnabled } from '../errors.ts'
import { type ResolvedFieldOptions, resolveFieldOptions, stripLiveDirective } from './directive.ts'
import type { LiveQueryStrategy } from '../options.ts'
import { entityTypesOf, triggersOfTypes } from '../triggers/triggers.ts'
import { createEntityFinder, type EntityFinder } from '../triggers/identifiers.ts'

/** A trigger that every event matches, for fields with unknown dependencies. */
const ANY = '*.*'

/**
 * Returns the triggers of a root field: those of its value, which an explicit list replaces, those of the fields below
 * it, those of `dependsOn`, and its own name.
 *
 * @param node the selection of the field in the operation
 */
function triggersOfField(
  input: PlanInput,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  { triggers: explicit, dependsOn }: ResolvedFieldOptions,
): string[] {
  const { schema, dependencies } = input
  const queryName = schema.getQueryType()?.name ?? ''
  const own = dependencies.ofField(queryName, field)
  const ownTypes = new Set(possibleObjects(schema, getNamedType(field.type)).map(({ name }) => name))
  if (!own.everything) for (const name of own.types) ownTypes.add(name)
  const below = fieldsBelow(input, node, queryName).map((selected) => dependenceOf(selected, dependencies))
  const added = new Set(below.flatMap((part) => (part.everything ? [] : [...part.types])))
  const derived =
    explicit.length > 0
      ? [...added].filter((name) => !ownTypes.has(name))
      : new Set([...entityTypesOf(schema, field.type), ...ownTypes, ...added])
  const isOpen = explicit.length === 0 && dependsOn.length === 0 && own.everything
  return [
    ...explicit,
    ...triggersOfTypes(derived),
    ...dependsOn.map((type) => `${type}.*`),
    ...(isOpen || below.some((part) => part.everything) ? [ANY] : []),
    `Query.${field.name}`,
  ]
}

/** Returns every selected field below the root field. */
function fieldsBelow({ schema, document }: PlanInput, node: FieldNode, queryName: string): SelectedField[] {
  const alone: DocumentNode = {
    kind: Kind.DOCUMENT,
    definitions: [
      {
        kind: Kind.OPERATION_DEFINITION,
        operation: OperationTypeNode.QUERY,
        selectionSet: { kind: Kind.SELECTION_SET, selections: [node] },
      },
      ...fragmentsOf(document).values(),
    ],
  }
  const selected = selectOperation(schema, alone, undefined)
  return selected?.fields.filter(({ parent }) => parent.name !== queryName) ?? []
}

/** Returns the dependencies of a field. For a field of an interface, it includes the fields of all implementations. */
function dependenceOf({ definitions }: SelectedField, dependencies: Dependencies): Dependence {
  const types = new Set<string>()
  for (const { typeName, field } of definitions) {
    const one = dependencies.ofField(typeName, field)
    if (one.everything) return one
    for (const name of one.types) types.add(name)
  }
  return { everything: false, types }
}

/** The merged options of all root fields of one live operation. */
export interface LivePlan {
  readonly strategy: LiveQueryStrategy
  readonly triggers: readonly string[]
  /**
   * Whether changes can occur that match no trigger, because the query is polled or has an explicit list. A new
   * subscriber then does not receive an earlier result. Default `false`.
   */
  readonly isPartial?: boolean | undefined
  readonly throttleMs: number
  readonly pollIntervalMs: number
  readonly ttlSeconds: number
  readonly volatility: Volatility | undefined
  /** The limits of root fields that have their own limit. */
  readonly maxConnections: ReadonlyMap<string, number>
}

interface PlanInput {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  readonly fields: Readonly<Record<string, LiveOptions>>
  readonly defaults: LiveOptions
  /** The throttle from `@live(throttle:)`. */
  readonly throttleMs: number | undefined
  readonly dependencies: Dependencies
}

/**
 * Merges the options of the operation's root fields. Throws a `GraphQLError` if a field does not allow live queries.
 */
export function planLiveQuery(input: PlanInput): LivePlan {
  const { schema, document, operation } = input
  const queryType = schema.getQueryType()
  const merged: FieldPlan[] = []
  // Skipped fields are included, because variables can include them later.
  forEachField({ fragments: fragmentsOf(document) }, [operation.selectionSet], (node) => {
    const field = queryType?.getFields()[node.name.value]
    // A field without a definition is `__typename`, which never changes.
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
  return {
    ...options,
    name: field.name,
    isPartial: strategy !== 'INVALIDATION' || triggers.length > 0,
    // Declared triggers also apply to polled fields. Derived triggers do not.
    triggers:
      strategy === 'INVALIDATION'
        ? triggersOfField(input, field, node, options)
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

/** Returns the highest volatility of the fields. It is unknown if the volatility of a field is unknown. */
function mostVolatile(fields: readonly FieldPlan[]): Volatility | undefined {
  const order: readonly Volatility[] = ['VeryHigh', 'High', 'Medium', 'Low', 'VeryLow']
  if (fields.some((field) => field.volatility === undefined)) return undefined
  return order.find((level) => fields.some((field) => field.volatility === level))
}

interface LiveDocument {
  /**
   * The document without `@live`. It is the same object for the same document, so that executors can use it as a cache
   * key.
   */
  readonly document: DocumentNode
  readonly text: string
}

interface PlannedOperation {
  readonly plan: LivePlan
  /** The request data that results depend on. */
  readonly variesBy: VariesBy
  readonly entities: () => EntityFinder
}

export interface LiveDocuments {
  strip(document: DocumentNode): LiveDocument
  plan(input: Pick<PlanInput, 'schema' | 'document' | 'operation' | 'throttleMs'>): PlannedOperation
}

/** Caches values that depend only on a document. Yoga creates one document object per query string. */
export function createLiveDocuments(
  fields: Readonly<Record<string, LiveOptions>>,
  defaults: LiveOptions,
  idFields?: readonly string[],
): LiveDocuments {
  const plans = new WeakMap<
    OperationDefinitionNode,
    { schema: GraphQLSchema; throttleMs: number | undefined; planned: PlannedOperation }
  >()
  const dependenciesOf = createDependencyCache({ idFields })
  return {
    strip: keyed((document: DocumentNode): LiveDocument => {
      const stripped = stripLiveDirective(document)
      return { document: stripped, text: print(stripped) }
    }, new WeakMap()),
    plan({ schema, document, operation, throttleMs }) {
      const known = plans.get(operation)
      if (known && known.schema === schema && known.throttleMs === throttleMs) return known.planned
      let finder: EntityFinder | undefined
      const dependencies = dependenciesOf(schema)
      const planned = {
        plan: planLiveQuery({ schema, document, operation, fields, defaults, throttleMs, dependencies }),
        variesBy: describeOperationVariesBy(schema, document, operation.name?.value),
        entities: () => (finder ??= createEntityFinder(schema, document, operation, dependencies)),
      }
      plans.set(operation, { schema, throttleMs, planned })
      return planned
    },
  }
}

/** Specification: "Cache control hint". The names are those of the wire format. */
export interface CacheControl {
  /** Maximum age in seconds. */
  readonly max_age: number
  readonly public: boolean
  readonly must_revalidate: boolean
  readonly etag?: string
}

const MAX_AGE: Readonly<Record<Volatility, number>> = {
  VeryHigh: 0,
  High: 5,
  Medium: 30,
  Low: 300,
  VeryLow: 3600,
}

/** Returns the hint for data of a volatility. `shared` means that the result depends on no header and is public. */
export function cacheControlFor(volatility: Volatility, etag?: string, shared = false): CacheControl {
  return {
    max_age: MAX_AGE[volatility],
    public: shared,
    must_revalidate: volatility === 'Low',
    ...(etag === undefined ? {} : { etag }),
  }
}

/** Returns a strong entity tag (RFC 9110, section 8.8.3) of serialized data. */
export function etagOf(json: string): string {
  return `"${createHash('sha256').update(json).digest('base64url')}"`
}
