import { getRootTypes } from '@graphql-tools/utils'
import {
  isIntrospectionType,
  isScalarType,
  isSpecifiedScalarType,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql'
import type { FieldDefinitions } from '@vinyasa/rest-connector'
import type { RestSourceConfig } from './types.ts'

/** Scalars that sources have alike. */
const SHARED = new Set([
  'Base64',
  'Date',
  'DateTime',
  'EmailAddress',
  'JSON',
  'Long',
  'Upload',
  'URI',
  'UUID',
])

/** Names of a schema's types and root fields. */
export function namesOfSchema(schema: GraphQLSchema): readonly string[] {
  const roots: ReadonlySet<GraphQLNamedType> = getRootTypes(schema)
  const types = Object.values(schema.getTypeMap()).filter((type) => isOwn(type) && !roots.has(type))
  return [...getRootTypes(schema)]
    .flatMap((root) => Object.keys(root.getFields()))
    .concat(types.map(({ name }) => name))
}

/**
 * Returns the names of others that what is imported must avoid before it is given its own: none with a
 * prefix, nor those that it is renamed from.
 */
export function namesToAvoid(
  { prefix, rename = {} }: RestSourceConfig,
  taken: readonly string[],
): readonly string[] {
  if (prefix) return []
  const renamed = new Set(Object.keys(rename).map((coordinate) => coordinate.replace(/^.*\./, '')))
  return taken.filter((name) => !renamed.has(name))
}

/** Names that a config gives its endpoints and types by hand. */
export function namesIn({ endpoints = [], types = {}, openapi }: RestSourceConfig): readonly string[] {
  const defined = Object.entries(types).filter(([name, { kind }]) => kind !== 'scalar' || !SHARED.has(name))
  const inPlace = endpoints.flatMap(({ responseSchema }) =>
    responseSchema ? [responseSchema.typeName, ...typesInPlace(responseSchema.fields)] : [],
  )
  const renamed = typeof openapi === 'object' ? Object.values(openapi.rename ?? {}) : []
  return [...endpoints.map(({ name }) => name), ...defined.map(([name]) => name), ...inPlace, ...renamed]
}

function isOwn(type: GraphQLNamedType): boolean {
  if (isIntrospectionType(type) || isSpecifiedScalarType(type)) return false
  return !isScalarType(type) || !SHARED.has(type.name)
}

function typesInPlace(fields: FieldDefinitions): readonly string[] {
  return Object.values(fields).flatMap((field) =>
    typeof field === 'string' || field.fields === undefined
      ? []
      : [field.type.replaceAll(/[[\]!]/g, ''), ...typesInPlace(field.fields)],
  )
}
