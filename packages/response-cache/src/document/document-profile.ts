import { isObjectType, type DocumentNode, type GraphQLSchema, type OperationTypeNode } from 'graphql'
import {
  createDependencies,
  createDependencyCache,
  describeOperationVariesBy,
  selectOperation,
  type VariesBy,
  type Dependence,
  type Dependencies,
} from '@vinyasa/invalidation'
import { createOperationMemo } from '@vinyasa/documents'
import type { PreparedDocument } from '@vinyasa/pipeline'
import { changedEntities } from './changed-entities.ts'
import type { OperationAccess, ResponseCacheOptions } from '../options.ts'
import { createEntityPlan, type EntityPlan } from './entity-plan.ts'
import { createIdFields } from './id-fields.ts'
import { sha256 } from './key.ts'
import { normalizeDocument, type NormalizedDocument } from './normalize-document.ts'
import { collectStatements, touchedTypes, type Statements } from './stated.ts'
import { anyTag, type InvalidationTarget } from '../store/tags.ts'

/** All that the cache must know of one operation; computed once per document and schema. */
export interface DocumentProfile
  extends Omit<NormalizedDocument, 'document' | 'operation' | 'text'>, Statements {
  readonly schema: GraphQLSchema
  readonly operation: `${OperationTypeNode}`
  /** Identifies the operation's meaning: same for all spellings of it. */
  readonly digest: string
  /** Object types the result can hold, without the root type. */
  readonly types: ReadonlySet<string>
  /** Every type that the document has to do with, by name: those it selects on, those it gives, and their interfaces. */
  readonly mentioned: ReadonlySet<string>
  /** The types that the result of a query depends on, or that a mutation changes. */
  readonly dependence: Dependence
  /** The caller whom the result is for, as the sources of its fields say. */
  readonly variesBy: VariesBy
  /** The rule for sharing its results, where rules say who may have them. */
  readonly access: OperationAccess | undefined
  /** Lower-case names of the request headers in its keys: those that sources read, and those of the options. */
  readonly varyNames: readonly string[]
  /** The plan that tells, entity by entity, what a result depends on. */
  readonly entities: EntityPlan
  /** Lists what a mutation changed, entity by entity. */
  changedIn(data: unknown): readonly InvalidationTarget[]
  /** Tags of what every result of the document depends on, whatever it holds: type by type. */
  readonly tags: readonly string[]
}

/** The options of the cache; no header is in every key where `varyHeaders` names none. */
export interface ProfileOptions extends Pick<
  ResponseCacheOptions,
  'ttlMsBySchemaCoordinate' | 'varyHeaders' | 'access'
> {
  readonly idFields: readonly string[]
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
  const { document: bare, operation: definition, text, ...asked } = normalized
  const { operation } = definition
  const fields = selectOperation(schema, bare, undefined)?.fields ?? []
  const touched = touchedTypes(schema, operation, fields)
  const statements = collectStatements(schema, touched, fields, options)
  const root = schema.getRootType(operation)
  const types = [...touched].filter((type) => isObjectType(type) && type !== root).map(({ name }) => name)
  const dependence = operation === 'mutation' ? dependencies.ofMutation(bare) : dependencies.ofOperation(bare)
  const idFieldOf = createIdFields(schema, options.idFields)
  const variesBy = describeOperationVariesBy(schema, bare)
  const varyNames = [...(options.varyHeaders ?? []).map((name) => name.toLowerCase()), ...variesBy.headers]
  const plan = { schema, document: bare, dependencies, idFieldOf }
  return {
    schema,
    operation,
    digest: sha256(text),
    ...asked,
    types: new Set(types),
    mentioned: new Set([...touched].map(({ name }) => name)),
    dependence,
    variesBy,
    access: options.access?.({ schema, document: bare }),
    varyNames: [...new Set(varyNames)].sort(),
    ...statements,
    entities: createEntityPlan(plan),
    changedIn: (data) => changedEntities(plan, dependence.everything ? [] : dependence.types, data),
    tags: dependence.everything ? [...types, anyTag].sort() : [...dependence.types].sort(),
  }
}

/** Undefined: nobody knows which operation is meant. */
export type ProfileOf = (prepared: PreparedDocument) => DocumentProfile | undefined

/** Computes a profile once for each operation of a document. */
export function createProfileCache(options: ProfileOptions): ProfileOf {
  const dependenciesOf = createDependencyCache({ idFields: options.idFields })
  const profiles = createOperationMemo<DocumentProfile | undefined>()
  return (prepared) =>
    profiles(prepared, () => {
      const { schema, document, operationName } = prepared
      return profileDocument(schema, document, operationName, options, dependenciesOf(schema))
    })
}
