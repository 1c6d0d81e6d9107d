import {
  isObjectType,
  type DocumentNode,
  type GraphQLSchema,
  type OperationTypeNode,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  type GraphQLField,
  type GraphQLNamedType,
} from 'graphql'
import {
  createDependencies,
  createDependencyCache,
  describeOperationVariesBy,
  selectOperation,
  type VariesBy,
  type Dependence,
  type Dependencies,
  type SelectedField,
} from '@vinyasa/invalidation'
import { createOperationMemo } from '@vinyasa/core/documents'
import type { PreparedDocument } from '@vinyasa/core/pipeline'
import { changedEntities } from './changed-entities.ts'
import type { OperationAccess, ResponseCacheOptions } from '../options.ts'
import { createEntityPlan, type EntityPlan } from './entity-plan.ts'
import { sha256 } from './key.ts'
import { normalizeDocument, type NormalizedDocument } from './normalize-document.ts'
import { anyTag, type InvalidationTarget } from '../store/tags.ts'
import { cacheControlOf } from './cache-control.ts'

/** The stated lifetime and scope, wherever the statements stand. */
interface Statements {
  /** The shortest that any asks for. */
  readonly ttlMs: number | undefined
  readonly isPrivate: boolean
}

/**
 * The types of an operation: the root that it stands on, those that its fields stand on and give, what these can be, and
 * the interfaces that they implement.
 */
function touchedTypes(
  schema: GraphQLSchema,
  operation: OperationTypeNode,
  fields: readonly SelectedField[],
): ReadonlySet<GraphQLNamedType> {
  const touched = new Set<GraphQLNamedType>()

  function touch(type: GraphQLNamedType): void {
    if (touched.has(type)) return
    touched.add(type)
    if (isAbstractType(type)) schema.getPossibleTypes(type).forEach(touch)
    if (isObjectType(type) || isInterfaceType(type)) for (const one of type.getInterfaces()) touched.add(one)
  }

  const root = schema.getRootType(operation)
  if (root) touch(root)
  for (const { parent, definitions } of fields) {
    touch(parent)
    for (const { field } of definitions) touch(getNamedType(field.type))
  }
  return touched
}

/** A field has what is stated of it, of the field of an interface that it comes from, and of every type that is touched. */
function collectStatements(
  schema: GraphQLSchema,
  touched: ReadonlySet<GraphQLNamedType>,
  fields: readonly SelectedField[],
  { ttlMsBySchemaCoordinate = {} }: Pick<ResponseCacheOptions, 'ttlMsBySchemaCoordinate'>,
): Statements {
  const ttls: number[] = []
  let isPrivate = false

  function note(coordinate: string, definition: GraphQLField<unknown, unknown> | GraphQLNamedType): void {
    const control = cacheControlOf(definition)
    if (control?.maxAgeSeconds !== undefined) ttls.push(control.maxAgeSeconds * 1000)
    if (control?.isPrivate) isPrivate = true
    const ttlMs = Object.hasOwn(ttlMsBySchemaCoordinate, coordinate)
      ? ttlMsBySchemaCoordinate[coordinate]
      : undefined
    if (ttlMs !== undefined) ttls.push(ttlMs)
  }

  for (const type of touched) note(type.name, type)
  for (const { typeName, field } of fields.flatMap(({ definitions }) => definitions)) {
    note(`${typeName}.${field.name}`, field)
    const type = schema.getType(typeName)
    if (!isObjectType(type) && !isInterfaceType(type)) continue
    for (const parent of type.getInterfaces()) {
      const inherited = parent.getFields()[field.name]
      if (inherited) note(`${parent.name}.${field.name}`, inherited)
    }
  }
  return { ttlMs: ttls.length > 0 ? Math.min(...ttls) : undefined, isPrivate }
}

/** All that the cache must know of one operation; computed once per document and schema. */
export interface DocumentProfile
  extends Omit<NormalizedDocument, 'document' | 'operation' | 'text'>, Statements {
  readonly schema: GraphQLSchema
  readonly operation: `${OperationTypeNode}`
  /** Identifies the operation's meaning: same for all spellings of it. */
  readonly digest: string
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
  'ttlMsBySchemaCoordinate' | 'varyHeaders' | 'access' | 'idFields'
> {}

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
  const variesBy = describeOperationVariesBy(schema, bare)
  const varyNames = [...(options.varyHeaders ?? []).map((name) => name.toLowerCase()), ...variesBy.headers]
  const plan = { schema, document: bare, dependencies }
  return {
    schema,
    operation,
    digest: sha256(text),
    ...asked,
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
