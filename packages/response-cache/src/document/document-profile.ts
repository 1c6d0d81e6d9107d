import { isObjectType, Kind, type DocumentNode, type GraphQLSchema, type OperationTypeNode } from 'graphql'
import {
  createDependencies,
  createDependencyCache,
  describeOperationAsker,
  selectOperation,
  type Asker,
  type Dependence,
  type Dependencies,
} from '@vinyasa/invalidation'
import { changedEntities } from './changed-entities.ts'
import type { OperationAccess, ResponseCacheOptions } from '../options.ts'
import { createEntityPlan, type EntityPlan } from './entity-plan.ts'
import { createIdFields } from './id-fields.ts'
import { sha256 } from './key.ts'
import { normalizeDocument } from './normalize-document.ts'
import { collectStatements, touchedTypes } from './stated.ts'
import { anyTag, type InvalidationTarget } from '../store/tags.ts'

/** All that the cache must know of one operation; computed once per document and schema. */
export interface DocumentProfile {
  readonly schema: GraphQLSchema
  readonly operation: `${OperationTypeNode}`
  /** Identifies the operation's meaning: same for all spellings of it. */
  readonly digest: string
  readonly variableNames: readonly string[]
  /** The client asked for `@defer` or `@stream`. */
  readonly incremental: boolean
  /** The client asked for `@live`. */
  readonly live: boolean
  readonly introspection: boolean
  /** Object types the result can hold, without the root type. */
  readonly types: ReadonlySet<string>
  /** Every type that the document has to do with, by name: those it selects on, those it gives, and their interfaces. */
  readonly mentioned: ReadonlySet<string>
  /** The types that the result of a query depends on, or that a mutation changes. */
  readonly dependence: Dependence
  /** The asker whom the result is for, as the sources of its fields say. */
  readonly asker: Asker
  /** The rule for sharing its results, where rules say who may have them. */
  readonly access: OperationAccess | undefined
  /** Lower-case names of the request headers in its keys: those that sources read, and those of the options. */
  readonly varyNames: readonly string[]
  /** The shortest lifetime that a field or type of the document asks for. */
  readonly ttlMs: number | undefined
  /** A field or type of the document is `scope: PRIVATE`. */
  readonly isPrivate: boolean
  /** The plan that tells, entity by entity, what a result depends on. */
  readonly entities: EntityPlan
  /** Lists what a mutation changed, entity by entity. */
  changedIn(data: unknown): readonly InvalidationTarget[]
  /** Tags of what every result of the document depends on, whatever it holds: type by type. */
  readonly tags: readonly string[]
}

export interface ProfileOptions {
  /** Lifetimes by schema coordinate (`Query.users`, `User`), in milliseconds. */
  readonly ttlMsBySchemaCoordinate?: Readonly<Record<string, number | undefined>> | undefined
  /** Fields that identify an entity, in order of preference. */
  readonly idFields: readonly string[]
  /** Request headers that are part of every key. Default none. */
  readonly varyHeaders?: readonly string[] | undefined
  readonly access?: ResponseCacheOptions['access']
}

/** Returns undefined when the operation cannot be determined; execution will say so. */
export function profileDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  options: ProfileOptions,
  dependencies: Dependencies = createDependencies(schema, options),
): DocumentProfile | undefined {
  const normalized = normalizeDocument(document, operationName)
  if (!normalized) return undefined
  const { operation } = normalized.operation
  const selected = selectOperation(schema, normalized.document, undefined)
  const touched = touchedTypes(schema, operation, selected?.fields ?? [])
  const statements = collectStatements(schema, touched, selected?.fields ?? [], options)
  const root = schema.getRootType(operation)
  const types = [...touched].filter((type) => isObjectType(type) && type !== root).map(({ name }) => name)
  const dependence =
    operation === 'mutation'
      ? dependencies.ofMutation(normalized.document)
      : dependencies.ofOperation(normalized.document)
  const idFieldOf = createIdFields(schema, options.idFields)
  const asker = describeOperationAsker(schema, normalized.document)
  const varyNames = [...(options.varyHeaders ?? []).map((name) => name.toLowerCase()), ...asker.headers]
  const plan = { schema, document: normalized.document, dependencies, idFieldOf }
  return {
    schema,
    operation,
    digest: sha256(normalized.text),
    variableNames: normalized.variableNames,
    incremental: normalized.incremental,
    live: normalized.live,
    introspection: normalized.introspection,
    types: new Set(types),
    mentioned: new Set([...touched].map(({ name }) => name)),
    dependence,
    asker,
    access: options.access?.({ schema, document: normalized.document }),
    varyNames: [...new Set(varyNames)].sort(),
    ...statements,
    entities: createEntityPlan(plan),
    changedIn: (data) => changedEntities(plan, dependence.everything ? [] : dependence.types, data),
    tags: dependence.everything ? [...types, anyTag].sort() : [...dependence.types].sort(),
  }
}

/** Remembers profiles by document, so that each is computed once. */
export interface ProfileCache {
  of(
    schema: GraphQLSchema,
    document: DocumentNode,
    operationName: string | null | undefined,
  ): DocumentProfile | undefined
}

export function createProfileCache(options: ProfileOptions): ProfileCache {
  const dependenciesOf = createDependencyCache({ idFields: options.idFields })
  const bySchema = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, Map<string, DocumentProfile>>>()
  return {
    of(schema, document, operationName) {
      let byDocument = bySchema.get(schema)
      if (!byDocument) bySchema.set(schema, (byDocument = new WeakMap()))
      let byName = byDocument.get(document)
      if (!byName) byDocument.set(document, (byName = new Map()))
      const name = operationName ?? ''
      const known = byName.get(name)
      if (known) return known
      const profile = profileDocument(schema, document, operationName, options, dependenciesOf(schema))
      // Only names the document really has are remembered, so clients cannot fill the map.
      if (profile && (operationName == null || hasOperation(document, operationName)))
        byName.set(name, profile)
      return profile
    },
  }
}

function hasOperation(document: DocumentNode, name: string): boolean {
  return document.definitions.some(
    (definition) => definition.kind === Kind.OPERATION_DEFINITION && definition.name?.value === name,
  )
}
