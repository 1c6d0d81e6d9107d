import {
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isScalarType,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql'
import type { Names } from './decide-names.ts'
import { defaultValueOf } from './default-value.ts'
import { argumentAt, partOf } from './elements.ts'
import { standardDefault, standardScalar } from './standard-scalars.ts'

type Values = Readonly<Record<string, unknown>>
type Translate = (value: unknown) => unknown
type ToOwn = (values: Values) => Record<string, unknown>

interface Part {
  readonly own: string
  /** Null: clients do not see it. */
  readonly client: string | null
  readonly type: GraphQLInputType
  readonly defaultValue: unknown
}

/** Brings what clients send under their names to the source's own, and defaults from its own to theirs. */
export class OwnValues {
  readonly #names: Names
  /** Types in whose values anything has another name for clients. */
  readonly #changed: ReadonlySet<string>
  readonly #objects = new Map<GraphQLInputObjectType, Translate>()

  constructor(schema: GraphQLSchema, names: Names) {
    this.#names = names
    const inputs = Object.values(schema.getTypeMap())
      .filter(isInputObjectType)
      .map((type) => ({ name: type.name, parts: this.#partsOf(type) }))
    this.#changed = changedInputs(inputs)
  }

  /** Undefined where clients call all of the arguments, and all in them, as the source does. */
  arguments(field: string, args: readonly GraphQLArgument[]): ToOwn | undefined {
    const parts = args.map((arg) => this.#toPart(argumentAt(field, arg.name), arg))
    return parts.some((part) => isPartChanged(part, this.#changed)) ? this.#ofParts(parts) : undefined
  }

  /** Gives a default under the clients' names, as their scalars have it. @throws RangeError where those cannot hold it */
  defaultOf(given: GraphQLInputType, value: unknown): unknown {
    const type = getNullableType(given) as GraphQLInputType
    if (Array.isArray(value) && isListType(type))
      return value.map((item) => this.defaultOf(type.ofType as GraphQLInputType, item))
    if (isScalarType(type)) {
      const standard = standardScalar(type.name, this.#names.get(type.name) ?? type.name)
      return standard ? standardDefault(standard, value) : value
    }
    if (!isInputObjectType(type) || typeof value !== 'object' || value === null) return value
    const parts = this.#partsOf(type).filter(
      ({ own, client }) => client !== null && Object.hasOwn(value, own),
    )
    return Object.fromEntries(
      parts.map(({ own, client, type: inner }) => [client, this.defaultOf(inner, (value as Values)[own])]),
    )
  }

  #partsOf(type: GraphQLInputObjectType): Part[] {
    const fields = Object.values(type.getFields())
    return fields.map((field) => this.#toPart(partOf(type.name, field.name).coordinate, field))
  }

  #toPart(coordinate: string, element: GraphQLArgument | GraphQLInputField): Part {
    const { name: own, type } = element
    const client = this.#names.get(coordinate)
    return { own, client: client === undefined ? own : client, type, defaultValue: defaultValueOf(element) }
  }

  #translator(given: GraphQLInputType): Translate | undefined {
    if (!this.#changed.has(getNamedType(given).name)) return undefined
    const type = getNullableType(given) as GraphQLInputType
    if (isListType(type)) {
      const item = this.#translator(type.ofType as GraphQLInputType) as Translate
      return (value) => (Array.isArray(value) ? value.map(item) : value)
    }
    return this.#ofObject(type as GraphQLInputObjectType)
  }

  #ofObject(type: GraphQLInputObjectType): Translate {
    const known = this.#objects.get(type)
    if (known) return known
    let toOwn: ToOwn | undefined
    const translate: Translate = (value) => {
      if (typeof value !== 'object' || value === null) return value
      toOwn ??= this.#ofParts(this.#partsOf(type))
      return toOwn(value as Values)
    }
    this.#objects.set(type, translate)
    return translate
  }

  #ofParts(parts: readonly Part[]): ToOwn {
    const steps = parts.map((part) => ({ ...part, translate: this.#translator(part.type) }))
    const known = new Set(parts.map(({ client }) => client))
    return (values) => {
      const own: Record<string, unknown> = {}
      // The server's own definitions may have added others.
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
}

function changedInputs(
  inputs: readonly { readonly name: string; readonly parts: readonly Part[] }[],
): ReadonlySet<string> {
  const found = new Set<string>()
  for (let before = -1; before !== found.size;) {
    before = found.size
    for (const { name, parts } of inputs)
      if (!found.has(name) && parts.some((part) => isPartChanged(part, found))) found.add(name)
  }
  return found
}

function isPartChanged({ own, client, type, defaultValue }: Part, inputs: ReadonlySet<string>): boolean {
  return client === null ? defaultValue !== undefined : client !== own || inputs.has(getNamedType(type).name)
}
