import type { ArgumentDefinition } from '../../declare/arguments.ts'
import { keyOfMember } from '../../declare/member-path.ts'
import type {
  EnumDefinition,
  MemberDefinition,
  TypeDefinition,
  TypeDefinitions,
  InputDefinition,
  UnionDefinition,
} from '../../declare/type-definitions.ts'
import { fieldNames, freeName } from '../names.ts'
import { asList, asNode, asText, type Node, type OpenApiDocument } from '../openapi-document.ts'
import { Nesting } from '../nesting.ts'
import { DEPRECATED, describe, describeMember, describeText, propertiesOf } from './describe.ts'
import { namesIn } from './enum-names.ts'
import { fileKindOf, FORMAT_SCALARS, scalarOf, type IntegerTyping } from './scalars.ts'
import { ShapeReader, type ReadShape, type Shape, type ShapeListeners } from './shape.ts'
import { inside, schemaName, withoutInput, type Place, type TypeNames } from './type-names.ts'
import { flattened, optionNames, tellMembers, variantPlace } from './variants.ts'

/**
 * Makes interfaces of unions with a discriminator whose members have fields in common, of one type and one JSON member:
 * a client selects those without naming every member.
 */
function makeInterfaces(definitions: Map<string, TypeDefinition>): void {
  const interfaces = new Map<string, string[]>()
  for (const [name, definition] of definitions) {
    if (definition.kind !== 'union' || !definition.discriminator) continue
    const fields = commonFields(definition, definitions)
    if (Object.keys(fields).length === 0) continue
    definitions.set(name, { ...definition, kind: 'interface', fields })
    for (const member of Object.keys(definition.members))
      interfaces.set(member, [...(interfaces.get(member) ?? []), name])
  }
  for (const [member, names] of interfaces) {
    const definition = definitions.get(member)
    if (definition?.kind === 'object') definitions.set(member, { ...definition, interfaces: names })
  }
}

function commonFields(
  { members }: UnionDefinition,
  definitions: ReadonlyMap<string, TypeDefinition>,
): Readonly<Record<string, MemberDefinition>> {
  const found = Object.keys(members).map((member) => definitions.get(member))
  const objects = found.filter((definition) => definition?.kind === 'object')
  if (objects.length < 2 || objects.length < found.length) return {}
  const [first, ...others] = objects
  return Object.fromEntries(
    Object.entries(first?.fields ?? {}).filter(([name, { type, key }]) =>
      others.every(({ fields }) => {
        const other = Object.hasOwn(fields, name) ? fields[name] : undefined
        return other?.type === type && other.key === key
      }),
    ),
  )
}

/** Nobody could give an input that must hold itself: of each such circle one field becomes nullable. */
function breakInputCycles(definitions: Map<string, TypeDefinition>): void {
  const done = new Set<string>()
  const path = new Set<string>()

  function visit(name: string): void {
    const definition = definitions.get(name)
    if (definition?.kind !== 'input' || done.has(name)) return
    path.add(name)
    let fields: InputDefinition['fields'] = definition.fields
    for (const [field, member] of Object.entries(definition.fields)) {
      const required = /^(\w+)!$/.exec(member.type)?.[1]
      if (required === undefined) continue
      if (path.has(required)) fields = { ...fields, [field]: { ...member, type: required } }
      else visit(required)
    }
    definitions.set(name, { ...definition, fields })
    path.delete(name)
    done.add(name)
  }

  for (const name of [...definitions.keys()].toSorted()) visit(name)
}

/** The type of all items of a list: those of a tuple have one where they are the same scalar. */
function itemType({ node }: Shape, read: ReadShape, typeOf: (schema: unknown) => string): string {
  const { items, maxItems } = node
  const first = asList(node['prefixItems'])
  if (first.length === 0) return typeOf(items)
  const isWhole = items === false || (typeof maxItems === 'number' && maxItems <= first.length)
  const all = isWhole ? first : [...first, items]
  if (!all.every((schema) => read(schema).kind === 'scalar')) return 'JSON'
  const types = new Set(all.map(typeOf))
  return types.size === 1 ? ([...types][0] as string) : 'JSON'
}

/** Members of objects that have no field, and how they come to have one. */
interface Dropped {
  readonly message: string
  readonly fix: string
}

function droppedOfObject(node: Node): Dropped | undefined {
  const isAllowed = Object.values(asNode(node['patternProperties'])).some((schema) => schema !== false)
  const isLeft = Object.keys(asNode(node['unevaluatedProperties'])).length > 0
  if ((!isAllowed && !isLeft) || takesOthers(node)) return undefined
  return {
    message: `properties that only ${isAllowed ? 'patternProperties' : 'unevaluatedProperties'} describes`,
    fix: 'declare additionalProperties in the schema to get a field with these properties',
  }
}

/** What a choice lets be in each of its options, which is in them only where the choice has properties itself. */
function droppedOfChoice(shape: Shape, read: ReadShape): Dropped | undefined {
  const choices = new Set([shape])
  for (const { variants = [] } of choices)
    for (const one of variants.map(read)) if (one.kind === 'variants') choices.add(one)
  const isDropped = [...choices].some(
    ({ node }) =>
      (node['oneOf'] ?? node['anyOf']) !== undefined &&
      takesOthers(node) &&
      Object.keys(asNode(node['properties'])).length === 0,
  )
  if (!isDropped) return undefined
  return {
    message: 'properties that additionalProperties describes next to oneOf or anyOf',
    fix: 'declare additionalProperties in each schema of oneOf or anyOf to get a field with these properties',
  }
}

function takesOthers({ additionalProperties: others }: Node): boolean {
  return others !== undefined && others !== false
}

/**
 * A schema's default as a value of the GraphQL type; undefined: it is none, as in many documents, or one of an object,
 * whose members would be sent where nobody gave them.
 */
function defaultOf(value: unknown, type: string, definitions: ReadonlyMap<string, TypeDefinition>): unknown {
  if (value === undefined || value === null) return undefined
  const bare = type.replace(/!$/, '')
  if (bare.startsWith('[')) {
    if (!Array.isArray(value)) return undefined
    const items = value.map((item) => defaultOf(item, bare.slice(1, -1), definitions))
    return items.includes(undefined) ? undefined : items
  }
  const definition = definitions.get(bare)
  if (definition) return isOf(definition, value) ? value : undefined
  switch (bare) {
    case 'String':
      return typeof value === 'string' ? value : undefined
    case 'Boolean':
      return typeof value === 'boolean' ? value : undefined
    case 'Float':
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined
    case 'Int':
    case 'Long':
      return Number.isSafeInteger(value) ? value : undefined
    case 'JSON':
      return ['string', 'number', 'boolean'].includes(typeof value) ? value : undefined
    default:
      return undefined
  }
}

function isOf(definition: TypeDefinition, value: unknown): boolean {
  if (definition.kind === 'enum') return Object.values(definition.values).some((one) => one.value === value)
  if (definition.kind !== 'scalar') return false
  return typeof value === 'string' && new RegExp(definition.pattern ?? '').test(value)
}

export interface SchemaTypesOptions extends ShapeListeners {
  readonly integers: IntegerTyping
  /** Whether required fields of output types are non-null: all, or those of the listed types and fields. */
  readonly trustRequired: boolean | readonly string[]
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
  readonly #enums = new Map<Node, string>()
  /** Enums without a name of their own, by their places' names and values. */
  readonly #likeEnums = new Map<string, string>()
  readonly #nesting = new Nesting()

  constructor(document: OpenApiDocument, names: TypeNames, options: SchemaTypesOptions) {
    this.#names = names
    this.#options = options
    const shapes = new ShapeReader(document, options)
    this.#read = (schema) => shapes.read(schema)
  }

  /** All types so far. */
  definitions(): TypeDefinitions {
    breakInputCycles(this.#definitions)
    makeInterfaces(this.#definitions)
    return Object.fromEntries([...this.#definitions].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Properties of an object that is sent. */
  membersOf(schema: unknown): readonly string[] {
    return [...propertiesOf(this.#read(schema).node, 'readOnly', this.#read).keys()]
  }

  /** Properties whose values, or the items of whose lists, are such. */
  propertiesWhere(schema: unknown, isSuch: (shape: Shape) => boolean): readonly string[] {
    const isOne = (one: unknown): boolean => {
      const shape = this.#read(one)
      return shape.kind === 'list' ? isOne(shape.node['items']) : isSuch(shape)
    }
    const properties = Object.entries(asNode(this.#read(schema).node['properties']))
    return properties.filter(([, one]) => isOne(one)).map(([name]) => name)
  }

  /** JSON members that each item of a list has in an answer; empty where it is no list of objects, or nothing is required. */
  requiredOfItems(schema: unknown): readonly string[] {
    const { kind, node } = this.#read(schema)
    const item = kind === 'list' ? this.#read(node['items']) : undefined
    if (item?.kind !== 'object') return []
    const members = propertiesOf(item.node, 'writeOnly', this.#read)
    return asList(item.node['required']).filter(
      (key): key is string => typeof key === 'string' && members.has(key),
    )
  }

  /** The GraphQL type of what an API gives or is sent, nullable. */
  typeOf(schema: unknown, place: Place, isInput: boolean): string {
    const shape = this.#read(schema)
    switch (shape.kind) {
      case 'list':
        return `[${itemType(shape, this.#read, (one) => this.typeOf(one, inside(place, 'items', ''), isInput))}]`
      case 'map':
        return this.#map(shape.node, place, isInput)
      case 'object':
        return this.#object(shape, place, isInput)
      case 'variants':
        return isInput ? this.#oneOf(shape, place) : this.#union(shape, place)
      default:
        return isInput && fileKindOf(shape.node) === 'bytes' ? 'Upload' : this.#leaf(shape, place)
    }
  }

  /** The argument that takes a schema's value, with its default where that is one of its type. */
  argument(schema: unknown, place: Place, hints: ArgumentHints): ArgumentDefinition {
    const { isRequired, tellsDefault = false } = hints
    const type = this.typeOf(schema, place, true)
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

  /** The type of the members of an object that have no names. */
  #map(node: Node, place: Place, isInput: boolean): string {
    const at = inside(place, 'values', 'Value')
    const given = node['additionalProperties']
    const patterns = Object.values(asNode(node['patternProperties'])).filter((schema) => schema !== false)
    const types = new Set([given, ...patterns].map((one) => this.typeOf(one, at, isInput)))
    const value = types.size === 1 ? ([...types][0] as string) : 'JSON'
    return value === 'JSON' ? 'JSON' : `[${this.#entry(value, isInput)}!]`
  }

  /** The field of those members beside the ones with names, under a name that is free. */
  #others(node: Node, place: Place, taken: object, isInput: boolean): Record<string, MemberDefinition> {
    const given = node['additionalProperties']
    if (given === undefined || given === false) return {}
    const name = freeName('additionalProperties', (one) => Object.hasOwn(taken, one))
    const description = 'All properties without a separate field.'
    const besides = Object.keys(asNode(node['properties']))
    return { [name]: { type: this.#map(node, place, isInput), description, besides } }
  }

  #leaf(shape: Shape, place: Place): string {
    if (shape.kind === 'enum') return this.#enum(shape, place)
    if (shape.kind === 'any') return 'JSON'
    const name = scalarOf(shape.type, shape.node, this.#options.integers)
    const definition = Object.hasOwn(FORMAT_SCALARS, name) ? FORMAT_SCALARS[name] : undefined
    if (!definition) return name
    const own = this.#names.scalar(name)
    this.#definitions.set(own, definition)
    return own
  }

  #enum(shape: Shape, place: Place): string {
    const known = this.#enums.get(shape.node)
    if (known !== undefined) return known
    const schema = schemaName(shape.ref)
    // The enums of input and output at places of one name are one type, where they are the same.
    const alike = JSON.stringify([place.name, shape.values, shape.node['description']])
    const name = (schema ? undefined : this.#likeEnums.get(alike)) ?? this.#names.shared(schema, place)
    this.#enums.set(shape.node, name)
    if (!schema) this.#likeEnums.set(alike, name)
    const values: EnumDefinition['values'] = Object.fromEntries(
      [...namesIn(shape.node, shape.values ?? [])].map(([value, valueName]) => [valueName, { value }]),
    )
    this.#definitions.set(name, { kind: 'enum', ...describe(shape.node), values })
    return name
  }

  /** Returns the type of the entries of a JSON object whose values have this type. */
  #entry(value: string, isInput: boolean): string {
    const wanted = `${value
      .replaceAll('[', '')
      .replaceAll(/\]/g, 'List')
      .replaceAll('!', '')
      .replace(/Input(?=$|List)/, '')}Entry`
    const key = `${isInput ? 'input ' : ''}entry of ${value}`
    const name = this.#names.claim(isInput ? `${wanted}Input` : wanted, key)
    this.#definitions.set(name, { kind: isInput ? 'input entry' : 'entry', value })
    return name
  }

  #object(shape: Shape, place: Place, isInput: boolean): string {
    const made = isInput ? this.#inputs : this.#outputs
    const known = made.get(shape.node)
    if (known !== undefined) return known
    const properties = propertiesOf(shape.node, isInput ? 'readOnly' : 'writeOnly', this.#read)
    if (properties.size === 0) return 'JSON'
    const name = this.#names[isInput ? 'input' : 'output'](schemaName(shape.ref), place)
    made.set(shape.node, name)
    const own = { name: isInput ? withoutInput(name) : name, key: place.key }
    this.#nesting.enter(() => {
      const required = new Set(asList(shape.node['required']))
      const fields: Record<string, MemberDefinition> = {}
      const names = fieldNames([...properties.keys()])
      for (const [key, schema] of properties) {
        const field = names.get(key) as string
        const type = this.typeOf(schema, inside(own, key, key, name), isInput)
        const { isNullable } = this.#read(schema)
        const isNonNull = required.has(key) && !isNullable && (isInput || this.#isTrusted(name, field, type))
        const { deprecated, ...described } = describeMember(schema, this.#read, isInput)
        fields[field] = {
          type: isNonNull ? `${type}!` : type,
          ...(field !== key && { key: isInput ? key : keyOfMember(key) }),
          ...(isInput && isNullable && required.has(key) && { default: null }),
          ...described,
          ...(deprecated !== undefined && !(isInput && isNonNull) && { deprecated }),
        }
      }
      Object.assign(fields, this.#others(shape.node, own, fields, isInput))
      this.#tellDropped(shape, own.name, droppedOfObject(shape.node))
      this.#definitions.set(name, { kind: isInput ? 'input' : 'object', ...describe(shape.node), fields })
    })
    return name
  }

  /** Whether a required field of an output type is non-null. An enum is nullable, because an API can add values. */
  #isTrusted(name: string, field: string, type: string): boolean {
    const { trustRequired } = this.#options
    if (type === 'JSON' || this.#definitions.get(type)?.kind === 'enum') return false
    if (typeof trustRequired === 'boolean') return trustRequired
    const { wanted = name } = this.#names.conflictsOf(name)
    return trustRequired.includes(wanted) || trustRequired.includes(`${wanted}.${field}`)
  }

  #union(shape: Shape, place: Place): string {
    const known = this.#outputs.get(shape.node)
    if (known !== undefined) return known
    const variants = flattened(shape, this.#read)
    const areObjects = variants.length > 0 && variants.every(({ shape: { kind } }) => kind === 'object')
    const signs = areObjects ? tellMembers(shape.node, variants, this.#read) : undefined
    if (!signs) return shape.isBase ? this.#object(shape, place, false) : 'JSON'
    // Whoever refers to the union from inside of it finds it.
    const name = this.#names.output(schemaName(shape.ref), place)
    this.#outputs.set(shape.node, name)
    const own = { name, key: place.key }
    const named = variants.map((variant, index) =>
      this.#object(variant.shape, variantPlace(variant, index, own, name), false),
    )
    if (named.includes('JSON')) {
      this.#outputs.set(shape.node, 'JSON')
      return 'JSON'
    }
    this.#tellDropped(shape, name, droppedOfChoice(shape, this.#read))
    for (const value of signs.discriminator?.unmapped ?? [])
      this.#options.onUnsaid(
        `the discriminator of ${name} maps "${value}" to a schema that is not one of its types; this mapping is ignored`,
      )
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
      return shape.isBase ? this.#object(shape, place, true) : 'JSON'
    const name = this.#names.input(schemaName(shape.ref), place)
    this.#inputs.set(shape.node, name)
    const own = { name: withoutInput(name), key: place.key }
    const types = variants.map((variant, index) =>
      this.typeOf(variant.schema, variantPlace(variant, index, own, name), true),
    )
    if (variants.some((variant) => variant.shape.kind === 'object'))
      this.#tellDropped(shape, own.name, droppedOfChoice(shape, this.#read))
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
