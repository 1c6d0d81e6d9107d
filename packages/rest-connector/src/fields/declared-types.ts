import { markTeller, typeIn } from '@vinyasa/source-kit'
import {
  GraphQLEnumType,
  GraphQLError,
  GraphQLInputObjectType,
  GraphQLInterfaceType,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLString,
  GraphQLUnionType,
  type GraphQLFieldConfig,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLType,
} from 'graphql'
import { parseTypeReference, parseTypeText } from '../declare/fields.ts'
import type {
  InterfaceDefinition,
  MemberDefinition,
  ObjectDefinition,
  ScalarDefinition,
  TypeDefinition,
  TypeDefinitions,
  UnionDefinition,
  MemberSigns,
} from '../declare/type-definitions.ts'
import { atPlace, restError, RestConfigError } from '../errors.ts'
import { ENTRY } from '../json/entries.ts'
import { fieldResolver, othersResolver } from './resolvers.ts'

/**
 * Tells members apart: by the discriminator where it has a known value, else by their signs. One that says which for all
 * of them, and says something else, leaves nothing to tell; nor does one that is missing, of members without signs: such
 * an object is the rest, where there is one.
 * @throws RestConfigError if there is no discriminator, and two members have the same signs
 */
function compileTeller(
  name: string,
  { discriminator, members }: UnionDefinition | InterfaceDefinition,
): (value: unknown) => string | undefined {
  const rest = discriminator?.rest
  const byValue = new Map(Object.entries(discriminator?.types ?? {}))
  const all = Object.entries(members)
  // The type that must have more comes first: an object with all of it is rarely one that needs less.
  const signed = all
    .filter(([, signs]) => !discriminator || weight(signs) > 0)
    .filter(([member, signs]) => all.every(([other, more]) => other === member || !areAlike(signs, more)))
    .toSorted(([, a], [, b]) => weight(b) - weight(a))
  const untold = all.map(([member]) => member).filter((member) => !signed.some(([one]) => one === member))
  if (!discriminator && untold.length > 0)
    throw new RestConfigError(
      `the members ${untold.join(' and ')} of ${name} cannot be distinguished; set a discriminator, in required or constants of each member, list properties or values that the other members do not have, or use the type JSON for the field`,
      { path: ['types', name, 'members'] },
    )
  const saysAll = new Set(byValue.values()).size === Object.keys(members).length
  return (value) => {
    if (typeof value !== 'object' || value === null) return undefined
    const object = value as Readonly<Record<string, unknown>>
    if (discriminator) {
      const value = own(object, discriminator.key) ?? null
      const said = byValue.get(String(value))
      if (said !== undefined || (saysAll && value !== null)) return said ?? rest
    }
    return signed.find(([, signs]) => bears(object, signs))?.[0] ?? rest
  }
}

function weight({ required = [], constants = {} }: MemberSigns): number {
  return required.length + 1000 * Object.keys(constants).length
}

/** Whether an object can have the signs of both, and none that only one of them has. */
function areAlike(a: MemberSigns, b: MemberSigns): boolean {
  const [{ constants: ofA = {} }, { constants: ofB = {} }] = [a, b]
  const keys = ({ required = [], constants = {} }: MemberSigns): string =>
    JSON.stringify([
      [...new Set([...required, ...Object.keys(constants)])].toSorted(),
      Object.keys(constants).toSorted(),
    ])
  return (
    keys(a) === keys(b) &&
    Object.keys(ofA).every((key) => ofA[key]?.some((value) => ofB[key]?.includes(value)))
  )
}

function bears(object: Readonly<Record<string, unknown>>, { required, constants }: MemberSigns): boolean {
  for (const key of required ?? []) if (!Object.hasOwn(object, key)) return false
  for (const [key, values] of Object.entries(constants ?? {}))
    if (!values.includes(own(object, key))) return false
  return true
}

function own(object: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Makes the GraphQL types of definitions; `others` are those that they may name besides each other. */
export class DeclaredTypes {
  readonly #definitions: TypeDefinitions
  readonly #origin: string
  readonly #types: Map<string, GraphQLNamedType>

  constructor(definitions: TypeDefinitions, others: readonly GraphQLNamedType[], origin: string) {
    this.#definitions = definitions
    this.#origin = origin
    this.#types = new Map(others.map((type) => [type.name, type]))
  }

  build(): readonly GraphQLNamedType[] {
    const built = Object.entries(this.#definitions).map(([name, one]) => this.#buildType(name, one))
    for (const type of built) this.#types.set(type.name, type)
    return built
  }

  #buildType(name: string, definition: TypeDefinition): GraphQLNamedType {
    const { description } = definition
    const config = { name, description, extensions: { origin: this.#origin } }
    switch (definition.kind) {
      case 'object':
        return new GraphQLObjectType({
          ...config,
          interfaces: () =>
            (definition.interfaces ?? []).map((one) => this.#typeOf<GraphQLInterfaceType>(one)),
          fields: () => this.#outputFields(name, definition),
        })
      case 'union':
        return new GraphQLUnionType({
          ...config,
          types: () => Object.keys(definition.members).map((one) => this.#typeOf<GraphQLObjectType>(one)),
          resolveType: resolveTypeOf(name, definition),
        })
      case 'interface':
        return new GraphQLInterfaceType({
          ...config,
          fields: () => this.#outputFields(name, definition),
          resolveType: resolveTypeOf(name, definition),
        })
      case 'enum':
        return new GraphQLEnumType({
          ...config,
          values: mapValues(definition.values, ({ deprecated, ...value }) => ({
            ...value,
            deprecationReason: deprecated,
          })),
        })
      case 'scalar':
        return buildScalar(config, definition)
      case 'entry':
        return new GraphQLObjectType({
          ...config,
          extensions: { ...config.extensions, [ENTRY]: true },
          fields: () => ({
            key: { type: new GraphQLNonNull(GraphQLString) },
            value: this.#outputField(name, 'value', { type: definition.value }),
          }),
        })
      case 'input':
        return new GraphQLInputObjectType({
          ...config,
          isOneOf: definition.isOneOf ?? false,
          fields: () =>
            mapValues(definition.fields, ({ type, description, deprecated }) => ({
              type: this.#typeOf<GraphQLInputType>(type),
              description,
              deprecationReason: deprecated,
            })),
        })
      case 'input entry':
        return new GraphQLInputObjectType({
          ...config,
          fields: () => ({
            key: { type: new GraphQLNonNull(GraphQLString) },
            value: { type: this.#typeOf<GraphQLInputType>(definition.value) },
          }),
        })
    }
  }

  #outputFields(parent: string, { fields }: ObjectDefinition | InterfaceDefinition) {
    return mapValues(fields, (member, name) => this.#outputField(parent, name, member))
  }

  #outputField(
    parent: string,
    name: string,
    { type: text, key = name, description, deprecated, besides }: MemberDefinition,
  ): GraphQLFieldConfig<unknown, unknown> {
    const type = atPlace(['types', parent, 'fields', name, 'type'], () =>
      this.#typeOf<GraphQLOutputType>(text),
    )
    const reference = parseTypeReference(text)
    const resolve = besides
      ? othersResolver(parent, name, besides)
      : atPlace(['types', parent, 'fields', name], () =>
          fieldResolver(parent, name, key, reference, this.#definitions[reference.name]?.kind),
        )
    // Its resolver reads what came with the object.
    const extensions = { origin: this.#origin }
    return { type, description, deprecationReason: deprecated, resolve, extensions }
  }

  #typeOf<T extends GraphQLType>(text: string): T {
    return typeIn(parseTypeText(text), (name) => this.#types.get(name))
  }
}

function resolveTypeOf(
  name: string,
  definition: UnionDefinition | InterfaceDefinition,
): (value: unknown) => string {
  const tell = compileTeller(name, definition)
  function resolve(value: unknown): string {
    const member = tell(value)
    if (member !== undefined) return member
    throw restError(
      'REST_BAD_RESPONSE',
      `The upstream sent an object that does not match any object type of ${name}.`,
    )
  }
  return markTeller(resolve, tell)
}

function buildScalar(
  config: { readonly name: string; readonly description: string | undefined },
  { pattern, specifiedBy }: ScalarDefinition,
): GraphQLScalarType {
  const expression = pattern === undefined ? undefined : new RegExp(pattern)
  return new GraphQLScalarType({
    ...config,
    specifiedByURL: specifiedBy,
    serialize: (value) => (typeof value === 'number' ? String(value) : value),
    parseValue(value) {
      if (typeof value === 'string' && (expression?.test(value) ?? true)) return value
      throw new GraphQLError(`${config.name} must be ${config.description ?? 'text'}`)
    },
  })
}

function mapValues<In, Out>(
  record: Readonly<Record<string, In>>,
  of: (value: In, key: string) => Out,
): Record<string, Out> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, of(value, key)]))
}
