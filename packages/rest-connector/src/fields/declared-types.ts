import { markTeller } from '@vinyasa/source-kit'
import {
  GraphQLEnumType,
  GraphQLError,
  GraphQLInputObjectType,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLString,
  GraphQLUnionType,
  Kind,
  parseType,
  specifiedScalarTypes,
  type GraphQLFieldConfig,
  type GraphQLInputFieldConfig,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLType,
  type TypeNode,
} from 'graphql'
import { parseTypeReference } from '../declare/fields.ts'
import type {
  EnumDefinition,
  InterfaceDefinition,
  MemberDefinition,
  ScalarDefinition,
  TypeDefinition,
  TypeDefinitions,
  UnionDefinition,
} from '../declare/type-definitions.ts'
import { restError } from '../errors.ts'
import { ENTRY } from '../json/entries.ts'
import { fieldResolver, isScalarName } from './resolvers.ts'
import { compileTeller } from './tell-members.ts'

/** The GraphQL types of definitions; `others` are those that they may name besides each other. */
export function buildTypes(
  definitions: TypeDefinitions,
  others: readonly GraphQLNamedType[],
  origin: string,
): readonly GraphQLNamedType[] {
  const types = new Map<string, GraphQLNamedType>()
  for (const type of [...specifiedScalarTypes, ...others]) types.set(type.name, type)
  const built = Object.entries(definitions).map(([name, definition]) => build(name, definition))
  for (const type of built) types.set(type.name, type)
  return built

  function build(name: string, definition: TypeDefinition): GraphQLNamedType {
    const { description } = definition
    const extensions = { origin }
    switch (definition.kind) {
      case 'object':
        return new GraphQLObjectType({
          name,
          description,
          extensions,
          interfaces: () => (definition.interfaces ?? []).map((one) => typeOf<GraphQLInterfaceType>(one)),
          fields: () => mapValues(definition.fields, (member, field) => outputField(name, field, member)),
        })
      case 'union':
        return new GraphQLUnionType({
          name,
          description,
          extensions,
          types: () => Object.keys(definition.members).map((member) => typeOf<GraphQLObjectType>(member)),
          resolveType: resolveTypeOf(name, definition),
        })
      case 'interface':
        return new GraphQLInterfaceType({
          name,
          description,
          extensions,
          fields: () => mapValues(definition.fields, (member, field) => outputField(name, field, member)),
          resolveType: resolveTypeOf(name, definition),
        })
      case 'enum':
        return new GraphQLEnumType({ name, description, extensions, values: enumValues(definition) })
      case 'scalar':
        return buildScalar(name, definition, origin)
      case 'entry':
        return new GraphQLObjectType({
          name,
          description,
          extensions: { ...extensions, [ENTRY]: true },
          fields: () => ({
            key: { type: new GraphQLNonNull(GraphQLString) },
            value: outputField(name, 'value', { type: definition.value }),
          }),
        })
      case 'input':
        return new GraphQLInputObjectType({
          name,
          description,
          extensions,
          isOneOf: definition.isOneOf ?? false,
          fields: () => mapValues(definition.fields, inputField),
        })
      case 'input entry':
        return new GraphQLInputObjectType({
          name,
          description,
          extensions,
          fields: () => ({
            key: { type: new GraphQLNonNull(GraphQLString) },
            value: { type: typeOf<GraphQLInputType>(definition.value) },
          }),
        })
    }
  }

  function outputField(
    parent: string,
    name: string,
    { type: text, key = name, description, deprecated }: MemberDefinition,
  ): GraphQLFieldConfig<unknown, unknown> {
    const type = typeOf<GraphQLOutputType>(text)
    const reference = parseTypeReference(text)
    const isScalar = isScalarName(reference.name) || definitions[reference.name]?.kind === 'scalar'
    return {
      type,
      description,
      deprecationReason: deprecated,
      resolve: fieldResolver(parent, name, key, reference, isScalar),
    }
  }

  function inputField({ type, description, deprecated }: MemberDefinition): GraphQLInputFieldConfig {
    return { type: typeOf<GraphQLInputType>(type), description, deprecationReason: deprecated }
  }

  function typeOf<T extends GraphQLType>(text: string): T {
    return wrap(parseType(text, { noLocation: true })) as T
  }

  function wrap(node: TypeNode): GraphQLType {
    switch (node.kind) {
      case Kind.NON_NULL_TYPE:
        return new GraphQLNonNull(wrap(node.type) as never)
      case Kind.LIST_TYPE:
        return new GraphQLList(wrap(node.type))
      case Kind.NAMED_TYPE:
        // One of another source is found by its name when schemas are merged.
        return types.get(node.name.value) ?? new GraphQLObjectType({ name: node.name.value, fields: {} })
    }
  }
}

function resolveTypeOf(
  name: string,
  definition: UnionDefinition | InterfaceDefinition,
): (value: unknown) => string {
  const tell = compileTeller(definition)
  function resolve(value: unknown): string {
    const member = tell(value)
    if (member !== undefined) return member
    throw restError('REST_BAD_RESPONSE', `The upstream gave an object that is no ${name}.`)
  }
  return markTeller(resolve, tell)
}

function enumValues({ values }: EnumDefinition) {
  return mapValues(values, ({ value, description, deprecated }) => ({
    value,
    description,
    deprecationReason: deprecated,
  }))
}

function buildScalar(
  name: string,
  { description, pattern, specifiedBy }: ScalarDefinition,
  origin: string,
): GraphQLScalarType {
  const expression = pattern === undefined ? undefined : new RegExp(pattern)
  return new GraphQLScalarType({
    name,
    description,
    specifiedByURL: specifiedBy,
    extensions: { origin },
    serialize: (value) => (typeof value === 'number' ? String(value) : value),
    parseValue(value) {
      if (typeof value === 'string' && (expression?.test(value) ?? true)) return value
      throw new GraphQLError(`${name} must be ${description ?? 'text'}`)
    },
  })
}

function mapValues<In, Out>(
  record: Readonly<Record<string, In>>,
  of: (value: In, key: string) => Out,
): Record<string, Out> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, of(value, key)]))
}
