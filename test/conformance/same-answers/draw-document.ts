import * as fc from 'fast-check'
import {
  doTypesOverlap,
  getNamedType,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isCompositeType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql'

// Operations of a schema: what is drawn are numbers, which choose of what there is at each place, so that they shrink.

export interface Node {
  readonly pick: number
  readonly how: number
  readonly args: number
  readonly when: number
  readonly below: readonly Node[]
}

export interface DrawnDocument {
  readonly nodes: readonly Node[]
  /** Fragments, each of which may spread those before it. */
  readonly fragments: readonly { readonly pick: number; readonly nodes: readonly Node[] }[]
  /** May hold `@defer`. */
  readonly isDeferred: boolean
  /** Holds nothing that there is no plan for. */
  readonly isPlannable: boolean
  /** Several root fields spread the same fragments. */
  readonly isShared: boolean
}

/** Root fields that may share what is selected below them: of one source, of the other, of both, and changes. */
const SHARING = [
  ['users', 'crowd', 'user', 'sureUser'],
  ['items', 'item', 'items', 'sure', 'held', 'things'],
  ['users', 'items', 'crowd', 'item', 'user', 'held'],
] as const
const CHANGES = ['setUser', 'setItem', 'setUser'] as const

/** Fields that are executed without plans. */
const PLANLESS: ReadonlySet<string> = new Set(['own', 'owns', 'oneItem', 'pair', 'oneOwner', 'find'])

const any = (max: number): fc.Arbitrary<number> => fc.noBias(fc.nat(max))

const { nodes } = fc.letrec<{ node: Node; nodes: Node[] }>((tie) => ({
  node: fc.record({ pick: any(999), how: any(99), args: any(999), when: any(99), below: tie('nodes') }),
  nodes: fc.oneof(
    { maxDepth: 4, depthSize: 'max', withCrossShrink: true },
    { weight: 1, arbitrary: fc.constant<Node[]>([]) },
    { weight: 9, arbitrary: fc.array(tie('node'), { minLength: 1, maxLength: 3, size: 'max' }) },
  ),
}))

const some = fc.array(nodes, { minLength: 1, maxLength: 2, size: 'max' }).map((all) => all.flat())

export const drawnDocument: fc.Arbitrary<DrawnDocument> = fc.record({
  nodes: some,
  fragments: fc.array(fc.record({ pick: any(999), nodes: some }), {
    minLength: 1,
    maxLength: 3,
    size: 'max',
  }),
  isDeferred: fc.constantFrom(false, false, true),
  isPlannable: fc.constantFrom(true, true, false),
  isShared: fc.boolean(),
})

export interface Operation {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
  readonly isDeferred: boolean
}

export type Asked = Pick<Operation, 'query' | 'variables'>

export function asAsked({ query, variables }: Operation): Asked {
  return { query, variables }
}

/** The same, asked for as a live query. */
export function asLive({ query, variables }: Operation): Asked {
  return { query: query.replace(/^query(\([^)]*\))?/, (head) => `${head} @live`), variables }
}

interface Variable {
  readonly name: string
  readonly definition: string
  /** Undefined: it is left out. */
  readonly value: unknown
}

interface Fragment {
  readonly type: GraphQLCompositeType
  readonly text: string
  readonly writer: Writer
}

/** The fragments' types: those that are reached in many ways. */
const TYPES = [
  'User',
  'User',
  'Item',
  'Item',
  'Thing',
  'Held',
  'Box',
  'Place',
  'Own',
  'Found',
  'Query',
] as const

export function writeOperation(
  schema: GraphQLSchema,
  drawn: DrawnDocument,
  kind: 'query' | 'mutation',
  flags: Readonly<Record<string, boolean>>,
): Operation {
  const fragments: Fragment[] = []
  const labels = { count: 0 }
  for (const [index, { pick, nodes: below }] of drawn.fragments.entries()) {
    const name = drawn.isShared ? (['Item', 'User', 'Item'] as const)[index] : TYPES[pick % TYPES.length]
    const type = schema.getType(name ?? 'Item') as GraphQLCompositeType
    const writer = new Writer(schema, fragments.slice(), drawn, flags, labels)
    fragments.push({ type, text: writer.selection(type, below), writer })
  }
  const writer = new Writer(schema, fragments, drawn, flags, labels)
  const root = kind === 'query' ? schema.getQueryType() : schema.getMutationType()
  const text = drawn.isShared
    ? writer.sharing(root as GraphQLObjectType, drawn.nodes)
    : writer.selection(root as GraphQLCompositeType, drawn.nodes)
  const used = new Set<number>()
  const variables = new Map<string, Variable>()
  const take = (from: Writer): void => {
    for (const [name, variable] of from.variables) variables.set(name, variable)
    for (const index of from.spread) {
      if (used.has(index)) continue
      used.add(index)
      take((fragments[index] as Fragment).writer)
    }
  }
  take(writer)
  const all = [...variables.values()]
  const head =
    all.length > 0 ? `(${all.map(({ name, definition }) => `$${name}: ${definition}`).join(' ')})` : ''
  const definitions = [...used].sort().map((index) => {
    const { type, text: below } = fragments[index] as Fragment
    return ` fragment F${index} on ${type.name} ${below}`
  })
  const query = `${kind}${head} ${text}${definitions.join('')}`
  return {
    query,
    isDeferred: query.includes('@defer'),
    variables: Object.fromEntries(
      all.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
    ),
  }
}

const CONDITIONS = [
  '@include(if: $yes)',
  '@skip(if: $no)',
  '@include(if: $maybe)',
  '@skip(if: $yes)',
  '@include(if: true)',
  '@skip(if: false)',
  '@include(if: $no) @skip(if: $maybe)',
] as const

const POOLS: Readonly<Record<string, readonly unknown[]>> = {
  id: ['a', 'b', 'c', 'a', 'b', 'none'],
  ids: [['a', 'b', 'c'], ['c', 'a', 'a'], ['b', 'a'], ['a', 'b', 'c'], ['b'], [], ['none']],
  limit: [1, 2, 0],
  name: ['n1', 'n2'],
  tint: ['t', 'u'],
}

/** A field as it comes. */
const NOTHING: Node = { pick: 0, how: 51, args: 175, when: 99, below: [] }

class Writer {
  readonly variables = new Map<string, Variable>()
  /** Fragments that are spread. */
  readonly spread = new Set<number>()
  readonly #schema: GraphQLSchema
  readonly #fragments: readonly Fragment[]
  readonly #isDeferring: boolean
  readonly #isPlannable: boolean
  readonly #flags: Readonly<Record<string, boolean>>
  readonly #labels: { count: number }

  constructor(
    schema: GraphQLSchema,
    fragments: readonly Fragment[],
    { isDeferred, isPlannable }: DrawnDocument,
    flags: Readonly<Record<string, boolean>>,
    labels: { count: number },
  ) {
    this.#schema = schema
    this.#fragments = fragments
    this.#isDeferring = isDeferred
    this.#isPlannable = isPlannable
    this.#flags = flags
    this.#labels = labels
  }

  selection(type: GraphQLCompositeType, below: readonly Node[]): string {
    const parts = below.map((node) => this.#one(type, node))
    return `{ ${parts.length > 0 ? parts.join(' ') : this.#leaf(type, 0)} }`
  }

  /** Root fields with all fragments that fit there. */
  sharing(root: GraphQLObjectType, nodes: readonly Node[]): string {
    const [first = NOTHING, second = { ...first, pick: first.pick + 5, args: first.args + 16 }, ...others] =
      nodes
    const below = this.#fragments.map((_, index): Node => ({ ...NOTHING, how: 20, pick: index }))
    const names = root.name === 'Mutation' ? CHANGES : (SHARING[first.how % SHARING.length] ?? CHANGES)
    const parts = [first, second, ...others.slice(0, 2)].map((node) => {
      const name = names[node.pick % names.length] as string
      const within = name === 'users' ? [{ ...NOTHING, pick: 0, below }] : below
      return this.#field(root.getFields()[name] as GraphQLField<unknown, unknown>, {
        ...node,
        // There are such things, mostly.
        args: node.when < 30 ? node.args : 15 + 16 * (node.args % 5),
        below: within,
      })
    })
    return `{ ${parts.join(' ')} }`
  }

  #leaf(type: GraphQLCompositeType, pick: number): string {
    if (isUnionType(type)) return '__typename'
    if (type.getFields()['name']) return 'id name'
    const leaves = Object.values(type.getFields()).filter(
      (field) => !isCompositeType(getNamedType(field.type)),
    )
    const field = leaves[pick % leaves.length]
    return field ? this.#field(field, { pick, how: 1, args: pick, when: 99, below: [] }) : '__typename'
  }

  #one(type: GraphQLCompositeType, node: Node): string {
    const { how, pick, below } = node
    if (how < 9) {
      const possible = this.#schema.getPossibleTypes(type as never)
      const on = isObjectType(type) ? type : (possible[pick % possible.length] ?? type)
      const condition =
        pick % 3 === 0 ? '' : `on ${isObjectType(type) && pick % 3 === 1 ? type.name : on.name} `
      return `... ${condition}${this.#when(node, true)}${this.selection(condition ? on : type, below)}`
    }
    if (how < 32) {
      const fitting = [...this.#fragments.entries()].filter(([, { type: of }]) =>
        doTypesOverlap(this.#schema, type, of),
      )
      const found = fitting[pick % (fitting.length || 1)]
      if (found) {
        this.spread.add(found[0])
        return `...F${found[0]} ${this.#when(node, true)}`
      }
    }
    if (how < 34 || isUnionType(type)) return '__typename'
    const fields = Object.values(type.getFields()).filter(
      ({ name }) => !this.#isPlannable || !PLANLESS.has(name),
    )
    const further = fields.filter((field) => isCompositeType(getNamedType(field.type)))
    const candidates = below.length > 0 && further.length > 0 ? further : fields
    return this.#field(candidates[pick % candidates.length] as GraphQLField<unknown, unknown>, node)
  }

  #field(field: GraphQLField<unknown, unknown>, node: Node): string {
    const args = field.args.flatMap((argument, index) => {
      const text = this.#argument(argument, Math.floor(node.args / (index * 7 + 1)))
      return text === undefined ? [] : [`${argument.name}: ${text}`]
    })
    const given = args.join(', ')
    // Names that say what is selected by them never conflict.
    const named = args.length > 0 ? `${field.name}_${given.replaceAll(/\W+/g, '')}` : field.name
    const key = node.how % 6 === 0 ? `also_${named}` : named
    const alias = key === field.name ? '' : `${key}: `
    const type = getNamedType(field.type)
    const below = isCompositeType(type) ? ` ${this.selection(type, node.below)}` : ''
    return `${alias}${field.name}${given ? `(${given})` : ''} ${this.#when(node, false)}${below}`
  }

  #when({ when, pick, how }: Node, isFragment: boolean): string {
    const parts: string[] = []
    if (when < 9) {
      const condition = CONDITIONS[when % CONDITIONS.length] as string
      for (const name of ['yes', 'no', 'maybe'])
        if (condition.includes(`$${name}`)) this.#take(flag(name, this.#flags[name]))
      parts.push(condition)
    }
    if (isFragment && this.#isDeferring && how % 2 === 0) parts.push(this.#defer(pick))
    return parts.length > 0 ? `${parts.join(' ')} ` : ''
  }

  #defer(pick: number): string {
    switch (pick % 4) {
      case 0:
        return '@defer'
      case 1:
        return `@defer(label: "l${this.#labels.count++}")`
      case 2:
        this.#take(flag('yes', this.#flags['yes']))
        return '@defer(if: $yes)'
      default:
        this.#take(flag('maybe', this.#flags['maybe']))
        return `@defer(if: $maybe, label: "l${this.#labels.count++}")`
    }
  }

  #take(variable: Variable): string {
    this.variables.set(variable.name, variable)
    return `$${variable.name}`
  }

  #argument({ name, type, defaultValue }: GraphQLArgument, chosen: number): string | undefined {
    const isRequired = isNonNullType(type)
    const pool = POOLS[name] ?? ['x']
    const index = Math.floor(chosen / 16) % pool.length
    const value = pool[index]
    const of = String(type)
    const tag = `${name}_${of.replaceAll(/\W/g, '')}${isListType(type) ? 'L' : ''}${isRequired ? 'R' : ''}${index}`
    const byDefault = `${of} = ${JSON.stringify(value)}`
    const isOptional = !isRequired
    switch (chosen % 16) {
      case 0:
        if (isOptional) return this.#take({ name: `n_${tag}`, definition: of, value: null })
        break
      case 1:
        if (isOptional) return this.#take({ name: `u_${tag}`, definition: of, value: undefined })
        break
      case 2:
        if (isOptional) return this.#take({ name: `o_${tag}`, definition: byDefault, value: null })
        break
      case 10:
        // Where it is no number, it is refused.
        if (name === 'limit' && index === 0)
          return this.#take({ name: `w_${tag}`, definition: of, value: 'x' })
        break
      case 3:
      case 4:
        if (isOptional || defaultValue !== undefined) return undefined
        break
      case 5:
      case 6:
        return this.#take({ name: `d_${tag}`, definition: byDefault, value: undefined })
      case 7:
      case 8:
      case 9:
        return this.#take({ name: `v_${tag}`, definition: of, value })
      default:
    }
    return JSON.stringify(value)
  }
}

function flag(name: string, value: boolean | undefined): Variable {
  return name === 'maybe'
    ? { name, definition: 'Boolean! = true', value: value ? undefined : false }
    : { name, definition: 'Boolean!', value: value ?? false }
}
