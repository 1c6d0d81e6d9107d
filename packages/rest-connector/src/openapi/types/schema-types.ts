import type { ArgumentDefinition } from '../../declare/arguments.ts'
import { keyOfMember } from '../../declare/member-path.ts'
import type { MemberDefinition, TypeDefinition, TypeDefinitions } from '../../declare/type-definitions.ts'
import { fieldNames } from '../names.ts'
import { asList, asNode, asText, type Node, type OpenApiDocument } from '../openapi-document.ts'
import { Nesting } from '../nesting.ts'
import { DEPRECATED, describe, describeMember, describeText, propertiesOf } from './describe.ts'
import { breakInputCycles } from './input-cycles.ts'
import { makeInterfaces } from './interfaces.ts'
import { itemType } from './item-type.ts'
import { LeafTypes } from './leaves/leaf-types.ts'
import { isBinary, type IntegerTyping } from './leaves/scalars.ts'
import { ShapeReader, type ReadShape, type Shape } from './shape.ts'
import { schemaName } from './schema-name.ts'
import { inside, withoutInput, type Place, type TypeNames } from './type-names.ts'
import { defaultOf } from './default-value.ts'
import { droppedOfChoice, droppedOfObject, type Dropped } from './dropped.ts'
import { flattened, optionNames, tellMembers, variantName } from './variants.ts'

export interface SchemaTypesOptions {
  readonly integers: IntegerTyping
  /** Whether a required property of a type is non-null. */
  readonly trusts: (typeName: string, field: string) => boolean
  readonly onBadReference: (message: string) => void
  /** Hears what schemas say that no type does, once for each schema. */
  readonly onUnsaid: (message: string) => void
  /** Hears of members that no field shows or takes; `ref` is the reference that names their schema. */
  readonly onDropped: (ref: string | undefined, dropped: Dropped) => void
}

export interface ArgumentHints {
  readonly isRequired: boolean
  readonly description?: string | undefined
  readonly isDeprecated?: boolean | undefined
  /** The default is told, and not sent. */
  readonly tellsDefault?: boolean | undefined
}

/** The named types that schemas of a document become; each is made when it is first asked for. */
export class SchemaTypes {
  readonly #names: TypeNames
  readonly #options: SchemaTypesOptions
  readonly #read: ReadShape
  readonly #outputs = new Map<Node, string>()
  readonly #inputs = new Map<Node, string>()
  readonly #definitions = new Map<string, TypeDefinition>()
  readonly #leaves: LeafTypes
  readonly #nesting = new Nesting()

  constructor(document: OpenApiDocument, names: TypeNames, options: SchemaTypesOptions) {
    this.#names = names
    this.#options = options
    const shapes = new ShapeReader(document, options)
    this.#read = (schema) => shapes.read(schema)
    this.#leaves = new LeafTypes(names, options.integers, this.#definitions)
  }

  /** All types so far. */
  definitions(): TypeDefinitions {
    breakInputCycles(this.#definitions)
    makeInterfaces(this.#definitions)
    return Object.fromEntries([...this.#definitions].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  isNullable(schema: unknown): boolean {
    return this.#read(schema).isNullable
  }

  /** Properties of an object that is sent. */
  membersOf(schema: unknown): readonly string[] {
    return [...propertiesOf(this.#read(schema).node, 'readOnly', this.#read).keys()]
  }

  /** Properties whose values are objects, or lists of them. */
  objectsIn(schema: unknown): readonly string[] {
    const isObject = (one: unknown): boolean => {
      const { kind, node } = this.#read(one)
      return kind === 'list' ? isObject(node['items']) : ['object', 'map', 'variants'].includes(kind)
    }
    const properties = Object.entries(asNode(this.#read(schema).node['properties']))
    return properties.filter(([, one]) => isObject(one)).map(([name]) => name)
  }

  /** The GraphQL type of what an API gives, nullable. */
  output(schema: unknown, place: Place): string {
    const shape = this.#read(schema)
    switch (shape.kind) {
      case 'list':
        return `[${itemType(shape, this.#read, (schema) => this.output(schema, inside(place, 'items', '')))}]`
      case 'map':
        return this.#map(shape.node, place, false)
      case 'object':
        return this.#object(shape, place)
      case 'variants':
        return this.#union(shape, place)
      default:
        return this.#leaves.of(shape, place)
    }
  }

  /** The GraphQL type of what an API is sent, nullable. */
  input(schema: unknown, place: Place): string {
    const shape = this.#read(schema)
    switch (shape.kind) {
      case 'list':
        return `[${itemType(shape, this.#read, (schema) => this.input(schema, inside(place, 'items', '')))}]`
      case 'map':
        return this.#map(shape.node, place, true)
      case 'object':
        return this.#inputObject(shape, place)
      case 'variants':
        return this.#oneOf(shape, place)
      default:
        return isBinary(shape.node) ? 'Upload' : this.#leaves.of(shape, place)
    }
  }

  /** The argument that takes a schema's value, with its default where that is one of its type. */
  argument(schema: unknown, place: Place, hints: ArgumentHints): ArgumentDefinition {
    const { isRequired, tellsDefault = false } = hints
    const type = this.input(schema, place)
    const { node } = this.#read(schema)
    const own = { ...node, ...asNode(schema) }
    const given = tellsDefault ? undefined : defaultOf(own['default'], type, this.#definitions)
    const isDeprecated = hints.isDeprecated === true || own['deprecated'] === true
    return {
      type: isRequired ? `${type}!` : type,
      ...describeText(
        hints.description ?? asText(node['description']),
        given === undefined ? own['default'] : undefined,
      ),
      ...(given !== undefined && { default: given }),
      ...(isDeprecated && (!isRequired || given !== undefined) && { deprecated: DEPRECATED }),
    }
  }

  /** The object types of schemas, as one type of all of them; JSON where nothing tells them apart. */
  union(schemas: readonly unknown[], place: Place): string {
    return this.output({ oneOf: schemas }, place)
  }

  /** The type of the members of an object that have no names. */
  #map(node: Node, place: Place, isInput: boolean): string {
    const at = inside(place, 'values', 'Value')
    const given = node['additionalProperties']
    const patterns = Object.values(asNode(node['patternProperties'])).filter((schema) => schema !== false)
    const types = new Set(
      [given, ...patterns].map((one) => (isInput ? this.input(one, at) : this.output(one, at))),
    )
    const value = types.size === 1 ? ([...types][0] as string) : 'JSON'
    return value === 'JSON' ? 'JSON' : `[${this.#leaves.entry(value, isInput)}!]`
  }

  /** The field of those members beside the ones with names, under a name that is free. */
  #others(node: Node, place: Place, taken: object, isInput: boolean): Record<string, MemberDefinition> {
    const given = node['additionalProperties']
    if (given === undefined || given === false) return {}
    let name = 'additionalProperties'
    for (let number = 2; Object.hasOwn(taken, name); number++) name = `additionalProperties${number}`
    const description = 'All members that have no fields of their own.'
    const besides = Object.keys(asNode(node['properties']))
    return { [name]: { type: this.#map(node, place, isInput), description, besides } }
  }

  #object(shape: Shape, place: Place): string {
    const known = this.#outputs.get(shape.node)
    if (known !== undefined) return known
    const properties = propertiesOf(shape.node, 'writeOnly', this.#read)
    if (properties.size === 0) return 'JSON'
    const name = this.#names.output(schemaName(shape.ref), place)
    this.#outputs.set(shape.node, name)
    this.#nesting.enter(() => {
      const required = new Set(asList(shape.node['required']))
      const fields: Record<string, MemberDefinition> = {}
      const names = fieldNames([...properties.keys()])
      for (const [key, schema] of properties) {
        const field = names.get(key) as string
        const type = this.output(schema, inside({ name, key: place.key }, key, key, name))
        const isNonNull =
          required.has(key) &&
          this.#options.trusts(name, field) &&
          !this.#read(schema).isNullable &&
          type !== 'JSON' &&
          this.#definitions.get(type)?.kind !== 'enum'
        fields[field] = {
          type: isNonNull ? `${type}!` : type,
          ...(field !== key && { key: keyOfMember(key) }),
          ...describeMember(schema, this.#read),
        }
      }
      Object.assign(fields, this.#others(shape.node, { name, key: place.key }, fields, false))
      this.#tellDropped(shape, name, droppedOfObject(shape.node))
      this.#definitions.set(name, { kind: 'object', ...describe(shape.node), fields })
    })
    return name
  }

  #inputObject(shape: Shape, place: Place): string {
    const known = this.#inputs.get(shape.node)
    if (known !== undefined) return known
    const properties = propertiesOf(shape.node, 'readOnly', this.#read)
    if (properties.size === 0) return 'JSON'
    const name = this.#names.input(schemaName(shape.ref), place)
    this.#inputs.set(shape.node, name)
    this.#nesting.enter(() => {
      const required = new Set(asList(shape.node['required']))
      const fields: Record<string, MemberDefinition> = {}
      const names = fieldNames([...properties.keys()])
      for (const [key, schema] of properties) {
        const field = names.get(key) as string
        const type = this.input(schema, inside({ name: withoutInput(name), key: place.key }, key, key, name))
        const isNonNull = required.has(key) && !this.#read(schema).isNullable
        const { deprecated, ...described } = describeMember(schema, this.#read, true)
        fields[field] = {
          type: isNonNull ? `${type}!` : type,
          ...(field !== key && { key }),
          ...described,
          ...(deprecated !== undefined && !isNonNull && { deprecated }),
        }
      }
      const own = { name: withoutInput(name), key: place.key }
      Object.assign(fields, this.#others(shape.node, own, fields, true))
      this.#tellDropped(shape, own.name, droppedOfObject(shape.node))
      this.#definitions.set(name, { kind: 'input', ...describe(shape.node), fields })
    })
    return name
  }

  #union(shape: Shape, place: Place): string {
    const known = this.#outputs.get(shape.node)
    if (known !== undefined) return known
    const variants = flattened(shape, this.#read)
    const areObjects = variants.length > 0 && variants.every(({ shape: { kind } }) => kind === 'object')
    const signs = areObjects ? tellMembers(shape.node, variants, this.#read) : undefined
    if (!signs) return shape.isBase ? this.#object(shape, place) : 'JSON'
    // Whoever refers to the union from inside of it finds it.
    const name = this.#names.output(schemaName(shape.ref), place)
    this.#outputs.set(shape.node, name)
    const named = variants.map((variant, index) => {
      const wanted = variant.shape.ref === undefined ? variantName(variant, index) : ''
      return this.#object(variant.shape, inside({ name, key: place.key }, `variant ${index}`, wanted, name))
    })
    if (named.includes('JSON')) {
      this.#outputs.set(shape.node, 'JSON')
      return 'JSON'
    }
    this.#tellDropped(shape, name, droppedOfChoice(shape, this.#read))
    for (const value of signs.unmapped)
      this.#options.onUnsaid(`the discriminator of ${name} maps "${value}" to none of its types`)
    const members = Object.fromEntries(named.map((member, index) => [member, signs.members[index] ?? {}]))
    const { discriminator } = signs
    const rest = named[variants.findIndex(({ schema }) => schema === shape.rest)]
    this.#definitions.set(name, {
      kind: 'union',
      ...describe(shape.node),
      members,
      ...(discriminator && {
        discriminator: {
          key: discriminator.key,
          types: Object.fromEntries(
            [...discriminator.variants].map(([value, index]) => [value, named[index] as string]),
          ),
          ...(rest !== undefined && { rest }),
        },
      }),
    })
    return name
  }

  #oneOf(shape: Shape, place: Place): string {
    const known = this.#inputs.get(shape.node)
    if (known !== undefined) return known
    const variants = flattened(shape, this.#read)
    if (variants.length === 0 || variants.some(({ shape: { kind } }) => kind === 'any'))
      return shape.isBase ? this.#inputObject(shape, place) : 'JSON'
    const name = this.#names.input(schemaName(shape.ref), place)
    this.#inputs.set(shape.node, name)
    const types = variants.map(({ schema, shape: inner }, index) => {
      const wanted = inner.ref === undefined ? variantName({ schema, shape: inner }, index) : ''
      return this.input(
        schema,
        inside({ name: withoutInput(name), key: place.key }, `variant ${index}`, wanted, name),
      )
    })
    if (variants.some((variant) => variant.shape.kind === 'object'))
      this.#tellDropped(shape, withoutInput(name), droppedOfChoice(shape, this.#read))
    const names = optionNames(variants, types)
    const fields = Object.fromEntries(types.map((type, index) => [names[index] as string, { type }]))
    this.#definitions.set(name, { kind: 'input', ...describe(shape.node), isOneOf: true, fields })
    return name
  }

  #tellDropped({ ref }: Shape, type: string, dropped: Dropped | undefined): void {
    if (!dropped) return
    const message = `${dropped.message} have no field in ${type}`
    this.#options.onDropped(ref, { ...dropped, message })
  }
}
