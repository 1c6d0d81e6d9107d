import {
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationTypeNode,
} from 'graphql'
import { cacheControlOf } from './cache-control.ts'
import { createEntityPlan, type EntityPlan } from './entity-plan.ts'
import { sha256 } from './key.ts'
import { normalizeDocument } from './normalize-document.ts'
import { anyTag } from './tags.ts'

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
  readonly types: readonly string[]
  /** A root field returns a leaf value: no type says what the result depends on. */
  readonly untyped: boolean
  /** The root fields behind `untyped`. */
  readonly untypedFields: readonly GraphQLField<unknown, unknown>[]
  /** The shortest lifetime that a field or type of the document asks for. */
  readonly ttlMs: number | undefined
  /** A field or type of the document is `scope: PRIVATE`. */
  readonly isPrivate: boolean
  readonly entities: EntityPlan
  /** What every result of the document depends on, whatever it holds. */
  readonly tags: readonly string[]
}

export interface ProfileOptions {
  /** Lifetimes by schema coordinate (`Query.users`, `User`), in milliseconds. */
  readonly ttlMsBySchemaCoordinate?: Readonly<Record<string, number | undefined>> | undefined
  /** Fields that identify an entity, in order of preference. */
  readonly idFields: readonly string[]
}

/** Returns undefined when the operation cannot be determined; execution will say so. */
export function profileDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  options: ProfileOptions,
): DocumentProfile | undefined {
  const normalized = normalizeDocument(document, operationName)
  if (!normalized) return undefined
  const rootType = schema.getRootType(normalized.operation.operation)
  const types = new Set<string>()
  const ttls: number[] = []
  const untypedFields: GraphQLField<unknown, unknown>[] = []
  let introspection = false
  let isPrivate = false

  function note(coordinate: string, definition: GraphQLField<unknown, unknown> | GraphQLNamedType) {
    const { ttlMsBySchemaCoordinate } = options
    const control = cacheControlOf(definition)
    if (control?.maxAgeSeconds !== undefined) ttls.push(control.maxAgeSeconds * 1000)
    if (control?.isPrivate) isPrivate = true
    const ttlMs = ttlMsBySchemaCoordinate?.[coordinate]
    if (ttlMs !== undefined) ttls.push(ttlMs)
  }

  const typeInfo = new TypeInfo(schema)
  const visitor = visitWithTypeInfo(typeInfo, {
    Field(node) {
      if (node.name.value === '__schema' || node.name.value === '__type') introspection = true
      const field = typeInfo.getFieldDef()
      const parent = typeInfo.getParentType()
      if (!field || !parent || field.name.startsWith('__')) return
      note(`${parent.name}.${field.name}`, field)
      const type = getNamedType(field.type)
      if (isLeafType(type)) {
        if (parent === rootType) untypedFields.push(field)
        return
      }
      note(type.name, type)
      if (isObjectType(type)) types.add(type.name)
      if (!isAbstractType(type)) return
      for (const possible of schema.getPossibleTypes(type)) {
        note(possible.name, possible)
        types.add(possible.name)
      }
    },
  })
  visit(normalized.document, visitor)
  const sortedTypes = [...types].sort()
  const untyped = untypedFields.length > 0
  return {
    schema,
    operation: normalized.operation.operation,
    digest: sha256(normalized.text),
    variableNames: normalized.variableNames,
    incremental: normalized.incremental,
    live: normalized.live,
    introspection,
    types: sortedTypes,
    untyped,
    untypedFields,
    ttlMs: ttls.length > 0 ? Math.min(...ttls) : undefined,
    isPrivate,
    entities: createEntityPlan(schema, normalized.document, options.idFields),
    tags: untyped ? [...sortedTypes, anyTag] : sortedTypes,
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
      const profile = profileDocument(schema, document, operationName, options)
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
