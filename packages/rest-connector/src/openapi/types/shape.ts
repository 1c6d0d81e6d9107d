import { Inheritance } from './subtypes.ts'
import { asList, asNode, asText, type Node, type OpenApiDocument } from '../openapi-document.ts'
import { discriminatorValue } from './discriminator.ts'
import { isConstraint, isRemark, unsaidIn } from './unsaid.ts'

const NULLABLE_ALONE: ReadonlySet<string> = new Set(['nullable', 'x-nullable', 'description', 'title'])

/** Returns the values of `const` or `enum`. */
function listedValues(node: Node): readonly unknown[] {
  return 'const' in node ? [node['const']] : asList(node['enum'])
}

/** Returns the schemas of `oneOf` and `anyOf`. */
function optionsIn(node: Node): readonly unknown[] {
  return [...asList(node['oneOf']), ...asList(node['anyOf'])]
}

/** A schema that is nothing but null. */
function isNull(node: Node): boolean {
  const values = listedValues(node)
  return String(node['type']) === 'null' || (values.length > 0 && values.every((value) => value === null))
}

/** Before `type: 'null'` there was no way to write null: generators mean it with a schema that says no more than this. */
function marksNullable(node: Node): boolean {
  const isBare = Object.keys(node).every((key) => NULLABLE_ALONE.has(key))
  return isBare && saysNull(node)
}

/** A schema that allows null beside whatever else. */
function saysNull(node: Node): boolean {
  return (
    node['nullable'] === true ||
    node['x-nullable'] === true ||
    node['const'] === null ||
    [node['type']].flat().includes('null') ||
    asList(node['enum']).includes(null)
  )
}

/**
 * Whether a schema without null is, or is made of, one of those that are being read: of these nothing is known yet but that
 * they are objects.
 */
function leadsTo(
  schema: unknown,
  open: ReadonlySet<Node>,
  document: OpenApiDocument,
  seen: Set<Node> = new Set(),
): boolean {
  const node = document.find(schema) ?? {}
  if (open.has(node)) return true
  if (seen.has(node) || marksNullable(node) || saysNull(node)) return false
  seen.add(node)
  return asList(node['allOf']).some((part) => leadsTo(part, open, document, seen))
}

/** Makes one schema of two, the same each time: an object may have such a property at every depth. */
function createBoth(): (earlier: unknown, later: unknown) => Node {
  const known = new WeakMap<Node, WeakMap<Node, Node>>()
  return (earlier, later) => {
    const [one, other] = [asNode(earlier), asNode(later)]
    const made = known.get(one) ?? new WeakMap<Node, Node>()
    const both = made.get(other) ?? { allOf: [earlier, later] }
    known.set(one, made.set(other, both))
    return both
  }
}

const NUMBERS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [8, 16, 32, 64].flatMap((bits) => [`int${bits}`, `uint${bits}`]).map((name) => [name, 'integer']),
  ),
  float: 'number',
  double: 'number',
}

/**
 * The types that a schema lists, besides null, or that its other keywords are of. ASP.NET Core says of numbers that they may come as text, too, and leaves
 * their type out where OpenAPI 3.0 has no word for it: by their format they are numbers.
 */
function typesIn(node: Node): readonly string[] {
  const types = [node['type']].flat().filter((type) => typeof type === 'string' && type !== 'null')
  const format = asText(node['format']) ?? ''
  const number = Object.hasOwn(NUMBERS, format) ? NUMBERS[format] : undefined
  const isNumber = number !== undefined && types.every((type) => type === number || type === 'string')
  if (isNumber && types.length !== 1) return [number]
  return types.length > 0 ? (types as string[]) : impliedTypes(node)
}

function impliedTypes(node: Node): readonly string[] {
  if (node['properties'] !== undefined) return ['object']
  if (node['items'] !== undefined || node['prefixItems'] !== undefined) return ['array']
  return Object.keys(asNode(node['additionalProperties'])).length > 0 ? ['object'] : []
}

/** Tells if schemas that all hold for one value give types that no value has at once, as far as it is known. */
function tellConflict(what: string, nodes: readonly Node[], tell: (message: string) => void): void {
  const types = nodes.map(roughTypesIn).filter((some) => some.length > 0)
  if (types.every((some) => types.every((more) => some.some((type) => more.includes(type))))) return
  const listed = [...new Set(types.map((some) => some.join(' or ')))].join(', ')
  tell(
    `the parts of an allOf declare incompatible types for ${what}: ${listed}; only one of these types is used, so correct the schema`,
  )
}

function roughTypesIn(node: Node): readonly string[] {
  const values = listedValues(node)
  const given = typesIn(node)
  const types = given.length > 0 ? given : values.flatMap((value) => (value === null ? [] : typeof value))
  return types.map((type) => (type === 'integer' ? 'number' : type))
}

type EnumValue = string | number | boolean

function typeOfValues(values: readonly EnumValue[] = []): string {
  const types = new Set(values.map((value) => typeof value))
  return types.size === 1 ? ([...types][0] as string) : 'mixed'
}

/** What a schema is that allows these values alone. */
function classifyValues(listed: readonly unknown[]): Pick<Shape, 'kind' | 'type' | 'values'> {
  const given = [...new Set(listed)].filter((value) => value !== null)
  const values = given.filter((value): value is EnumValue =>
    ['string', 'number', 'boolean'].includes(typeof value),
  )
  if (values.length === 0 || values.length < given.length) return { kind: 'any' }
  if (values.every((value) => typeof value === 'boolean')) return { kind: 'scalar', type: 'boolean' }
  return { kind: 'enum', values }
}

/** A JSON schema, as far as types can tell. */
export interface Shape {
  readonly kind: 'any' | 'scalar' | 'enum' | 'list' | 'map' | 'object' | 'variants'
  /** The schema, with what `allOf` splits united; the same object for the same schema. */
  readonly node: Node
  /** The reference that names it. */
  readonly ref: string | undefined
  readonly isNullable: boolean
  /** A scalar's: `string`, `integer`, `number` or `boolean`. */
  readonly type?: string | undefined
  /** An enum's. */
  readonly values?: readonly EnumValue[] | undefined
  /** The schemas of `oneOf` and `anyOf`, each with the properties that stand beside them. */
  readonly variants?: readonly Node[] | undefined
  /** The variants are made of it by `allOf`: it is an object by itself, too. */
  readonly isBase?: boolean | undefined
  /** The one of the variants that stands for what is none of the others. */
  readonly rest?: Node | undefined
}

/** Schemas in here hold under a condition (JSON Schema 2020-12, section 10.2.2). */
const CONDITIONAL = ['then', 'else', 'dependentSchemas'] as const

/** A schema with one of these is more than the one that it is made of. */
const OWN_KEYWORDS = ['properties', 'items', 'additionalProperties', 'enum', 'const', ...CONDITIONAL] as const
const BESIDE_REF = [...OWN_KEYWORDS, 'prefixItems', 'required', 'allOf', 'oneOf', 'anyOf'] as const

export type ReadShape = (schema: unknown) => Shape

type Classified = Pick<Shape, 'kind' | 'type' | 'values' | 'variants' | 'isBase' | 'rest'>

/** Members of a united schema that its first part with them gives. */
const FIRST_GIVEN: readonly string[] =
  'type items prefixItems maxItems additionalProperties patternProperties unevaluatedProperties enum const format title description default deprecated'.split(
    ' ',
  )

export interface ShapeListeners {
  readonly onBadReference: (message: string) => void
  /** Hears what schemas say that no type does. */
  readonly onUnsaid: (message: string) => void
}

/** Reads schemas; a reference to nowhere is reported, and leads to `any`. */
export class ShapeReader {
  readonly #document: OpenApiDocument
  readonly #listeners: ShapeListeners
  readonly #heard = new WeakSet<Node>()
  readonly #known = new WeakMap<Node, Shape>()
  readonly #beingRead = new Set<Node>()
  readonly #both = createBoth()
  readonly #inheritance: Inheritance
  readonly #readsBesideRefs: boolean

  constructor(document: OpenApiDocument, listeners: ShapeListeners) {
    this.#document = document
    this.#listeners = listeners
    this.#inheritance = new Inheritance(document, listeners.onUnsaid)
    // Before OpenAPI 3.1 what stands beside a reference is ignored.
    this.#readsBesideRefs = !asText(document.root['openapi'])?.startsWith('3.0')
  }

  read(schema: unknown): Shape {
    const node = asNode(schema)
    let shape = this.#known.get(node)
    if (!shape) {
      // A schema that is nothing but itself is any value.
      this.#known.set(node, { kind: 'any', node, ref: undefined, isNullable: true })
      this.#beingRead.add(node)
      this.#known.set(node, (shape = this.#compute(node)))
      this.#beingRead.delete(node)
    }
    return shape
  }

  #hear(node: Node): void {
    if (this.#heard.has(node)) return
    this.#heard.add(node)
    for (const message of unsaidIn(node)) this.#listeners.onUnsaid(message)
  }

  #compute(given: Node): Shape {
    this.#hear(given)
    if (typeof given['$ref'] !== 'string') {
      const { $dynamicRef, ...rest } = given
      // Where one schema has the anchor it is the one that is meant, whatever is around it.
      return typeof $dynamicRef === 'string'
        ? this.#compute({ ...rest, $ref: $dynamicRef })
        : this.#computeOwn(given)
    }
    if (this.#readsBesideRefs && BESIDE_REF.some((key) => key in given)) {
      const { $ref, ...beside } = given
      return this.#computeOwn({ ...beside, allOf: [{ $ref }, ...asList(given['allOf'])] })
    }
    try {
      const { node, ref } = this.#document.follow(given)
      const target = this.read(node)
      const isNullable = target.isNullable || given['nullable'] === true
      return { ...target, ref: target.ref ?? ref, isNullable }
    } catch (error) {
      this.#listeners.onBadReference((error as Error).message)
      return { kind: 'any', node: given, ref: undefined, isNullable: true }
    }
  }

  #computeOwn(given: Node): Shape {
    const options = optionsIn(given)
    const others = options.filter((option) => !this.#isNull(option))
    const parts = asList(given['allOf'])
    const needed = parts.filter((part) => !marksNullable(asNode(part)) && !isRemark(part))
    const takesNull = options.some((option) => saysNull(this.#document.find(option) ?? {}))
    const isNullable =
      saysNull(given) || takesNull || parts.some((part) => marksNullable(asNode(part)) && !isRemark(part))
    const isBare = !OWN_KEYWORDS.some((key) => key in given)
    // Generators that know a base write at each place what is made of it.
    const isChoice = isBare && others.length > 1 && parts.length === 0
    const base = isChoice ? this.#inheritance.baseOf(given, others) : undefined
    const [only] = base?.isWhole ? [base.ref] : [...others, ...needed]
    if (base?.isWhole || (isBare && others.length + needed.length === 1)) {
      const inner = this.read(only)
      if (!requiresMore(given, inner)) return { ...inner, isNullable: inner.isNullable || isNullable }
      const node = this.#unite({
        allOf: [only],
        required: given['required'],
        description: given['description'],
      })
      return { ...this.#classify(node), node, ref: undefined, isNullable: inner.isNullable || isNullable }
    }
    const isUnited = parts.length > 0 || CONDITIONAL.some((key) => key in given)
    const node = isUnited
      ? this.#unite(given)
      : base
        ? { discriminator: base.discriminator, ...given }
        : given
    return { ...this.#classify(node, given), node, ref: undefined, isNullable: isNullable || saysNull(node) }
  }

  /** Whether an option is nothing but null; a schema that has a name is a value, if it may be any. */
  #isNull(option: unknown): boolean {
    return marksNullable(asNode(option)) || isNull(this.#document.find(option) ?? {})
  }

  /** Makes one schema of what `allOf` splits. */
  #unite(given: Node): Node {
    const parts = this.#partsOf(given, new Set())
    const properties: Record<string, unknown> = {}
    let options: readonly unknown[] | undefined
    for (const part of parts) {
      for (const [key, schema] of Object.entries(asNode(part['properties'])))
        properties[key] = Object.hasOwn(properties, key)
          ? this.#narrowed(key, properties[key], schema)
          : schema
      const listed = optionsIn(part)
      // A base that lists those that are made of it leaves each of them no choice.
      const isMade = listed.some((option) => parts.includes(this.#document.find(option) ?? {}))
      const more = isMade ? [] : listed
      if (options === undefined && more.length > 0) options = more
      // Combinations of two choices would be as many as their product.
      else for (const option of more) Object.assign(properties, asNode(this.read(option).node['properties']))
    }
    tellConflict('the value', parts, this.#listeners.onUnsaid)
    // Properties that hold under a condition may be there.
    for (const [key, schema] of parts.flatMap((part) => this.#conditionalProperties(part)))
      if (!Object.hasOwn(properties, key)) properties[key] = schema
    const united: Record<string, unknown> = {
      properties,
      required: parts.flatMap((part) => asList(part['required'])),
      ...(options && { oneOf: options }),
    }
    for (const key of FIRST_GIVEN) {
      const first = parts.find((part) => part[key] !== undefined)
      if (first) united[key] = first[key]
    }
    // `readOnly` of a part says as often that a property is set once, when its object is made: it goes both ways, as
    // OpenAPI has no word against sending it but SHOULD NOT.
    if (parts.some((part) => part['writeOnly'] === true)) united['writeOnly'] = true
    // What stands for a schema stands for none that is made of it.
    const value = [given, ...asList(given['allOf'])].map(discriminatorValue).find((one) => one !== undefined)
    if (value !== undefined) united['x-discriminator-value'] = value
    if (given['description'] !== undefined) united['description'] = given['description']
    const own = parts.find(
      (part) => part['discriminator'] !== undefined && ('oneOf' in part || 'anyOf' in part),
    )
    if (own) united['discriminator'] = own['discriminator']
    return united
  }

  #conditionalProperties(node: Node): readonly (readonly [string, unknown])[] {
    const schemas = [node['then'], node['else'], ...Object.values(asNode(node['dependentSchemas']))]
    return schemas.flatMap((schema) => Object.entries(asNode(this.read(schema).node['properties'])))
  }

  /** A property that two parts describe is the later one, and null only where both allow it. */
  #narrowed(key: string, earlier: unknown, later: unknown): unknown {
    const nodes = [earlier, later].map((one) => asNode(this.#document.find(one)))
    tellConflict(`the property "${key}"`, nodes, this.#listeners.onUnsaid)
    if (earlier === later || leadsTo(later, this.#beingRead, this.#document) || !this.read(later).isNullable)
      return later
    const { isNullable, kind } = this.read(earlier)
    return isNullable || kind === 'any' ? later : this.#both(earlier, later)
  }

  /** The schemas that `allOf` lists, at every depth, and then the schema itself. */
  #partsOf(given: Node, seen: Set<Node>): readonly Node[] {
    if (seen.has(given)) return []
    seen.add(given)
    this.#hear(given)
    const isOwn = typeof given['$ref'] !== 'string' || this.#readsBesideRefs
    const below = isOwn ? asList(given['allOf']).flatMap((part) => this.#partsOf(asNode(part), seen)) : []
    return [...this.#referredParts(given, seen), ...below, ...(isOwn ? [given] : [])]
  }

  #referredParts(given: Node, seen: Set<Node>): readonly Node[] {
    if (typeof given['$ref'] !== 'string') return []
    try {
      return this.#partsOf(this.#document.resolve(given), seen)
    } catch (error) {
      this.#listeners.onBadReference((error as Error).message)
      return []
    }
  }

  #classify(node: Node, given: Node = node): Classified {
    const hasProperties = Object.keys(asNode(node['properties'])).length > 0
    const saysMore = hasProperties || ['type', 'enum', 'const'].some((key) => key in node)
    const all = optionsIn(node).filter((option) => !this.#isNull(option))
    const options = all.filter((option) => !isConstraint(option, saysMore))
    const dropped = all.filter((option) => !options.includes(option))
    if (dropped.length > 0 && dropped.every((option) => 'required' in asNode(option)))
      this.#listeners.onUnsaid(
        'the API must check the "required" lists in "oneOf" or "anyOf"; the connector does not',
      )
    if (options.length > 0) return this.#classifyOptions(node, options, given)
    const subtypes = this.#inheritance.subtypesOf(node)
    if (subtypes) return { kind: 'variants', variants: subtypes.variants, isBase: true, rest: subtypes.base }
    const listed = listedValues(node)
    if (listed.length > 0) return classifyValues(listed)
    const types = typesIn(node)
    const type = types.length === 1 ? types[0] : undefined
    if (types.length > 1)
      return types.every((one) => one === 'integer' || one === 'number')
        ? { kind: 'scalar', type: 'number' }
        : { kind: 'any' }
    switch (type) {
      case 'object':
        if (hasProperties) return { kind: 'object' }
        return Object.keys(asNode(node['additionalProperties'])).length > 0
          ? { kind: 'map' }
          : { kind: 'any' }
      case 'array':
        return { kind: 'list' }
      case 'string':
      case 'integer':
      case 'number':
      case 'boolean':
        return { kind: 'scalar', type }
      case 'file':
        return { kind: 'scalar', type: 'string' }
      default:
        return { kind: 'any' }
    }
  }

  #classifyOptions(node: Node, options: readonly unknown[], given: Node): Classified {
    const hasOwn = Object.keys(asNode(node['properties'])).length > 0
    const shapes = options.map((option) => this.read(option))
    const isLeaf = shapes.every(({ kind }) => kind === 'scalar' || kind === 'enum')
    if (isLeaf && !hasOwn) {
      if (shapes.every(({ kind }) => kind === 'enum'))
        return classifyValues([...new Set(shapes.flatMap(({ values = [] }) => values))])
      const types = new Set(shapes.map(({ type, values }) => type ?? typeOfValues(values)))
      if (types.size === 1) return { kind: 'scalar', type: [...types][0] }
      const isNumber = [...types].every((type) => type === 'integer' || type === 'number')
      if (isNumber) return { kind: 'scalar', type: 'number' }
    }
    const { properties, additionalProperties } = node
    const own = { properties, additionalProperties, required: asList(node['required']) }
    const isWhole = (option: unknown): boolean =>
      !hasOwn || this.#partsOf(asNode(option), new Set()).includes(given)
    const variants = options.map((option): Node =>
      isWhole(option) ? asNode(option) : { allOf: [own, option], title: asNode(option)['title'] },
    )
    return { kind: 'variants', variants }
  }
}

/** A schema that says what must be there may be another type than the one it points to. */
function requiresMore(given: Node, { kind, node }: Shape): boolean {
  const required = asList(node['required'])
  return kind === 'object' && asList(given['required']).some((key) => !required.includes(key))
}
