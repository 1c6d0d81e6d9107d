import {
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql'
import type { Names } from './decide-names.ts'
import { defaultValueOf } from './default-value.ts'
import { argumentAt, partOf } from './elements.ts'

type Values = Readonly<Record<string, unknown>>
type Translate = (value: unknown) => unknown

/** Brings what clients send under their names to the source's own, and defaults from its own to theirs. */
export interface OwnValues {
  /** Undefined where clients call all of the arguments, and all in them, as the source does. */
  arguments(
    field: string,
    args: readonly GraphQLArgument[],
  ): ((args: Values) => Record<string, unknown>) | undefined
  /** A default under the clients' names. */
  defaultOf(type: GraphQLInputType, value: unknown): unknown
}

interface Part {
  readonly own: string
  /** Null: clients do not see it. */
  readonly client: string | null
  readonly type: GraphQLInputType
  readonly defaultValue: unknown
}

export function createOwnValues(schema: GraphQLSchema, names: Names): OwnValues {
  const changed = changedInputs()

  function partsOf(type: GraphQLInputObjectType): Part[] {
    return Object.values(type.getFields()).map((field) =>
      toPart(partOf(type.name, field.name).coordinate, field),
    )
  }

  function toPart(coordinate: string, element: GraphQLArgument | GraphQLInputField): Part {
    const { name, type } = element
    const client = names.get(coordinate)
    return {
      own: name,
      client: client === undefined ? name : client,
      type,
      defaultValue: defaultValueOf(element),
    }
  }

  /** Types in whose values anything has another name for clients. */
  function changedInputs(): ReadonlySet<string> {
    const found = new Set<string>()
    const inputs = Object.values(schema.getTypeMap())
      .filter(isInputObjectType)
      .map((type) => ({ name: type.name, parts: partsOf(type) }))
    for (let before = -1; before !== found.size;) {
      before = found.size
      for (const { name, parts } of inputs)
        if (!found.has(name) && parts.some((part) => isPartChanged(part, found))) found.add(name)
    }
    return found
  }

  function isPartChanged({ own, client, type, defaultValue }: Part, inputs: ReadonlySet<string>): boolean {
    return client === null
      ? defaultValue !== undefined
      : client !== own || inputs.has(getNamedType(type).name)
  }

  function translator(given: GraphQLInputType): Translate | undefined {
    if (!changed.has(getNamedType(given).name)) return undefined
    const type = getNullableType(given) as GraphQLInputType
    if (isListType(type)) {
      const item = translator(type.ofType as GraphQLInputType) as Translate
      return (value) => (Array.isArray(value) ? value.map(item) : value)
    }
    return ofObject(type as GraphQLInputObjectType)
  }

  const objects = new Map<GraphQLInputObjectType, Translate>()
  function ofObject(type: GraphQLInputObjectType): Translate {
    const known = objects.get(type)
    if (known) return known
    let toOwn: ((values: Values) => Record<string, unknown>) | undefined
    const translate: Translate = (value) => {
      if (typeof value !== 'object' || value === null) return value
      toOwn ??= ofParts(partsOf(type))
      return toOwn(value as Values)
    }
    objects.set(type, translate)
    return translate
  }

  function ofParts(parts: readonly Part[]): (values: Values) => Record<string, unknown> {
    const steps = parts.map((part) => ({ ...part, translate: translator(part.type) }))
    const known = new Set(parts.map(({ client }) => client))
    return (values) => {
      const own: Record<string, unknown> = {}
      // What the server's own definitions have added.
      for (const name of Object.keys(values)) if (!known.has(name)) own[name] = values[name]
      for (const { own: name, client, defaultValue, translate } of steps) {
        if (client === null) {
          if (defaultValue !== undefined) own[name] = defaultValue
        } else if (Object.hasOwn(values, client)) {
          own[name] = translate ? translate(values[client]) : values[client]
        }
      }
      return own
    }
  }

  function defaultOf(given: GraphQLInputType, value: unknown): unknown {
    const type = getNullableType(given) as GraphQLInputType
    if (Array.isArray(value) && isListType(type))
      return value.map((item) => defaultOf(type.ofType as GraphQLInputType, item))
    if (!isInputObjectType(type) || typeof value !== 'object' || value === null) return value
    const parts = partsOf(type).filter(({ own, client }) => client !== null && Object.hasOwn(value, own))
    return Object.fromEntries(
      parts.map(({ own, client, type: inner }) => [client, defaultOf(inner, (value as Values)[own])]),
    )
  }

  return {
    arguments(field, args) {
      const parts = args.map((arg) => toPart(argumentAt(field, arg.name), arg))
      return parts.some((part) => isPartChanged(part, changed)) ? ofParts(parts) : undefined
    },
    defaultOf,
  }
}
