import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
} from 'graphql'
import { withIncrementalDirectives } from '../../src/document/directives.ts'

/** A small generator of numbers (mulberry32): the same seed, the same schema, document and world. */
export function createRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

function mix(seed: number, text: string): number {
  let hash = seed
  for (const character of text) hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619)
  return hash
}

interface Source {
  readonly seed: number
  readonly __typename?: string
}

/** The object types of each abstract type. */
type Possible = Map<string, string[]>

export interface World {
  /** How likely a field fails, comes as null, or takes a turn of the event loop. */
  readonly failing: number
  readonly missing: number
  readonly waiting: number
}

type Shape = 'leaf' | 'object' | 'abstract'
interface FieldShape {
  readonly name: string
  readonly shape: Shape
  readonly target: string
}

export interface GeneratedSchema {
  readonly schema: GraphQLSchema
  /** Fields by type name, the interface's included. */
  readonly fields: ReadonlyMap<string, readonly FieldShape[]>
  readonly objects: readonly string[]
}

/** A schema whose resolvers answer the same for the same object, field and arguments. */
export function generateSchema(seed: number, world: World): GeneratedSchema {
  const random = createRandom(seed)
  const objects = ['A', 'B', 'C', 'D'].slice(0, 2 + Math.floor(random() * 3))
  const types = new Map<string, GraphQLOutputType>()
  const possible: Possible = new Map([
    ['Any', objects],
    ['Node', []],
  ])
  const fields = new Map<string, FieldShape[]>()

  const wrap = (type: GraphQLOutputType): GraphQLOutputType => {
    const roll = random()
    if (roll < 0.12) return new GraphQLNonNull(type)
    if (roll < 0.3) return new GraphQLList(type)
    if (roll < 0.36) return new GraphQLNonNull(new GraphQLList(type))
    if (roll < 0.4) return new GraphQLList(new GraphQLNonNull(type))
    return type
  }

  function fieldConfig(name: string): {
    config: () => GraphQLFieldConfig<Source, unknown>
    shape: FieldShape
  } {
    const roll = random()
    const shape: Shape = roll < 0.5 ? 'leaf' : roll < 0.8 ? 'object' : 'abstract'
    const target =
      shape === 'object'
        ? (objects[Math.floor(random() * objects.length)] ?? 'A')
        : shape === 'abstract'
          ? random() < 0.5
            ? 'Node'
            : 'Any'
          : 'leaf'
    let built: GraphQLFieldConfig<Source, unknown> | undefined
    const isPlain = random() < 0.2
    const wrapSeed = random()
    const config = (): GraphQLFieldConfig<Source, unknown> => {
      if (built) return built
      const named = shape === 'leaf' ? (wrapSeed < 0.5 ? GraphQLString : GraphQLInt) : types.get(target)
      if (!named) throw new Error(`no type ${target}`)
      const type = wrap(named)
      built = {
        type,
        args: { n: { type: GraphQLInt } },
        ...(!isPlain && {
          resolve: (source, { n }: { readonly n?: number }) =>
            resolveRandomly(type, mix(source.seed, `${name}/${n ?? ''}`), world, possible),
        }),
      }
      return built
    }
    return { config, shape: { name, shape, target } }
  }

  const common = ['n0', 'n1', 'n2'].map((name) => fieldConfig(name))
  fields.set(
    'Node',
    common.map(({ shape }) => shape),
  )
  const node = new GraphQLInterfaceType({
    name: 'Node',
    fields: () =>
      Object.fromEntries(
        common.map(({ config, shape }) => [shape.name, { ...config(), resolve: undefined }]),
      ) as any,
  })
  types.set('Node', node)
  const objectTypes = objects.map((name) => {
    const own = [0, 1, 2, 3].map((index) => fieldConfig(`${name.toLowerCase()}${index}`))
    // The interface needs one object type at least.
    const isNode = name === 'A' || random() < 0.7
    if (isNode) possible.get('Node')?.push(name)
    fields.set(
      name,
      [...own, ...(isNode ? common : [])].map(({ shape }) => shape),
    )
    const usesIsTypeOf = random() < 0.3
    const type = new GraphQLObjectType<Source>({
      name,
      interfaces: isNode ? [node] : [],
      fields: () => {
        const configs: GraphQLFieldConfigMap<Source, unknown> = {}
        for (const { config, shape } of [...own, ...(isNode ? common : [])]) configs[shape.name] = config()
        return configs
      },
      ...(usesIsTypeOf && {
        isTypeOf: (source) => source.__typename === undefined || source.__typename === name,
      }),
    })
    types.set(name, type)
    return type
  })
  const any = new GraphQLUnionType({ name: 'Any', types: objectTypes })
  types.set('Any', any)
  fields.set('Any', [])
  const rootFields = [0, 1, 2, 3, 4].map((index) => fieldConfig(`q${index}`))
  fields.set(
    'Query',
    rootFields.map(({ shape }) => shape),
  )
  const schema = new GraphQLSchema({
    query: new GraphQLObjectType({
      name: 'Query',
      fields: () => Object.fromEntries(rootFields.map(({ config, shape }) => [shape.name, config()])) as any,
    }),
    types: [...objectTypes, node],
  })
  return { schema: withIncrementalDirectives(schema), fields, objects }
}

function resolveRandomly(type: GraphQLOutputType, seed: number, world: World, possible: Possible): unknown {
  const random = createRandom(seed)
  const value = (): unknown => {
    if (random() < world.failing) throw new Error(`failed ${seed}`)
    return valueOf(type, random, world, possible)
  }
  const roll = random()
  if (roll >= world.waiting) return value()
  if (roll < world.waiting / 2) return Promise.resolve().then(value)
  return new Promise((resolve) => setImmediate(resolve)).then(value)
}

function valueOf(type: GraphQLOutputType, random: () => number, world: World, possible: Possible): unknown {
  if (type instanceof GraphQLNonNull) {
    return valueOf(
      type.ofType,
      random,
      { ...world, missing: world.waiting > 0 ? 0 : world.failing / 2 },
      possible,
    )
  }
  if (random() < world.missing) return null
  if (type instanceof GraphQLList) {
    return Array.from({ length: Math.floor(random() * 4) }, () =>
      valueOf(type.ofType, random, world, possible),
    )
  }
  const seed = Math.floor(random() * 2 ** 31)
  if (type === GraphQLString) return `s${seed % 1000}`
  if (type === GraphQLInt) return seed % 1000
  if (type instanceof GraphQLObjectType) return { seed, __typename: type.name }
  const names = possible.get((type as GraphQLInterfaceType | GraphQLUnionType).name) ?? []
  return { seed, __typename: names[Math.floor(random() * names.length)] }
}

/** A valid document for the schema. A response key stands for one field everywhere, so that fields always merge. */
export function generateDocument({ fields, objects }: GeneratedSchema, seed: number, size: number): string {
  const random = createRandom(seed)
  const named: string[] = []
  let labels = 0
  let budget = 4 + size

  const defer = (): string => {
    const roll = random()
    if (roll < 0.4) return ''
    const condition = random()
    const label = random() < 0.7 ? `label: "l${labels++}"` : ''
    const given =
      condition < 0.7 ? '' : condition < 0.8 ? 'if: $yes' : condition < 0.9 ? 'if: $no' : 'if: $byDefault'
    const list = [label, given].filter(Boolean).join(', ')
    return list ? ` @defer(${list})` : ' @defer'
  }
  const condition = (): string => {
    const roll = random()
    if (roll < 0.94) return ''
    return roll < 0.97 ? ' @skip(if: $no)' : ' @include(if: $no)'
  }

  function selections(type: string, depth: number): string {
    const chosen: string[] = []
    const count = 1 + Math.floor(random() * 4)
    for (let index = 0; index < count; index++) chosen.push(selection(type, depth))
    return `{ ${chosen.join(' ')} }`
  }

  function selection(type: string, depth: number): string {
    const known = fields.get(type) ?? []
    const roll = random()
    budget--
    if (roll < 0.1 || (known.length === 0 && (roll < 0.3 || budget < 0))) return '__typename'
    if (known.length === 0 || (roll < 0.45 && depth > 0 && budget > 0)) return fragment(type, depth)
    const field = known[Math.floor(random() * known.length)]
    if (!field) return '__typename'
    const variant = Math.floor(random() * 3)
    const call = variant === 0 ? field.name : `${field.name}_${variant}: ${field.name}(n: ${variant})`
    if (field.shape === 'leaf') return call + condition()
    if (depth <= 0 || budget < 0) return call + ' { __typename }'
    return `${call}${condition()} ${selections(field.target, depth - 1)}`
  }

  function fragment(type: string, depth: number): string {
    const isAbstract = type === 'Any' || type === 'Node'
    const on = isAbstract && random() < 0.8 ? conditionOf(type) : type
    if (random() < 0.3) {
      const name = `F${named.length}`
      named.push('')
      named[Number(name.slice(1))] = `fragment ${name} on ${on} ${selections(on, depth - 1)}`
      // Spread twice now and then, deferred and not.
      const again = random() < 0.2 ? ` ...${name}` : ''
      return `...${name}${defer()}${again}`
    }
    return `... on ${on}${defer()}${condition()} ${selections(on, depth - 1)}`
  }

  function conditionOf(type: string): string {
    const candidates = objects.filter(
      (name) => type === 'Any' || fields.get(name)?.some((field) => field.name === 'n0'),
    )
    return candidates[Math.floor(random() * candidates.length)] ?? type
  }

  const root = selections('Query', 5) + ' '
  const query = `query ($yes: Boolean! = true, $no: Boolean! = false, $byDefault: Boolean = false) ${root}`
  return [query.replace(/ $/, ''), ...named].join('\n')
}

export const documentVariables: Readonly<Record<string, unknown>> = { yes: true, no: false }
