import { buildSchema, getNamedType, isCompositeType, type GraphQLSchema } from 'graphql'
import * as fc from 'fast-check'

/** A type of a random schema, as plain data that an oracle can read. */
export interface Drawn {
  readonly kind: 'object' | 'interface' | 'union'
  readonly name: string
  readonly hasId: boolean
  /** For objects: types of its fields, by index. For unions: members. For interfaces: none. */
  readonly targets: readonly number[]
  /** The interface that an object implements, by index among the interfaces. */
  readonly implements: number | undefined
}

export interface DrawnSchema {
  readonly types: readonly Drawn[]
  readonly schema: GraphQLSchema
}

const wrappers = ['T', 'T!', '[T]', '[T!]!', '[[T]!]'] as const

const drawn = fc.record({
  kind: fc.constantFrom(
    'object' as const,
    'object' as const,
    'object' as const,
    'interface' as const,
    'union' as const,
  ),
  hasId: fc.boolean(),
  targets: fc.array(fc.nat(), { maxLength: 3 }),
  wrap: fc.constantFrom(...wrappers),
  implements: fc.option(fc.nat(), { nil: undefined }),
})

/** Schemas of wrappers, entities, interfaces, unions and cycles between all of them. */
export const drawnSchemas: fc.Arbitrary<DrawnSchema> = fc
  .array(drawn, { minLength: 1, maxLength: 9 })
  .map((given) => {
    // The first is an object, so that unions have a member to offer.
    const raw = given.map((one, index) => (index === 0 ? { ...one, kind: 'object' as const } : one))
    const objects = raw.flatMap(({ kind }, index) => (kind === 'object' ? [index] : []))
    const interfaces = raw.flatMap(({ kind }, index) => (kind === 'interface' ? [index] : []))
    const types = raw.map((one, index): Drawn => {
      const pool = one.kind === 'union' ? objects : raw.map((_, at) => at)
      const targets = one.kind === 'interface' ? [] : one.targets.map((at) => pool[at % pool.length] ?? 0)
      return {
        kind: one.kind,
        name: `T${index}`,
        hasId: one.kind === 'object' && one.hasId,
        targets: one.kind === 'union' && targets.length === 0 ? [0] : [...new Set(targets)],
        implements:
          one.kind === 'object' && one.implements !== undefined && interfaces.length > 0
            ? interfaces[one.implements % interfaces.length]
            : undefined,
      }
    })
    const sdl = types.map((type, index) => sdlOf(type, types, raw[index]?.wrap ?? 'T'))
    const roots = types.map(({ name }) => `get${name}: ${name}\n list${name}: [${name}!]!`).join('\n')
    return {
      types,
      schema: buildSchema(
        `type Query { ${roots} leaf: Int }\ntype Mutation { ${roots} done: Boolean }\n${sdl.join('\n')}`,
      ),
    }
  })

function sdlOf(type: Drawn, types: readonly Drawn[], wrap: (typeof wrappers)[number]): string {
  switch (type.kind) {
    case 'interface':
      return `interface ${type.name} { common: Int }`
    case 'union':
      return `union ${type.name} = ${type.targets.map((at) => types[at]?.name).join(' | ')}`
    case 'object': {
      const over = type.implements === undefined ? '' : ` implements ${types[type.implements]?.name}`
      const fields = type.targets.map((at, n) => `f${n}: ${wrap.replace('T', types[at]?.name ?? '')}`)
      return `type ${type.name}${over} { ${type.hasId ? 'id: ID!' : ''} common: Int count: Int ${fields.join(' ')} }`
    }
  }
}

/** A random selection on a type, down to a depth; every composite field has one below. */
export function selectionOn(schema: GraphQLSchema, typeName: string, depth: number): fc.Arbitrary<string> {
  const type = schema.getType(typeName)
  if (!isCompositeType(type) || depth === 0) return fc.constant('{ __typename }')
  const fields = 'getFields' in type ? Object.values(type.getFields()) : []
  const pieces = fields.map((field) => {
    const below = getNamedType(field.type)
    return isCompositeType(below)
      ? selectionOn(schema, below.name, depth - 1).map((text) => `${field.name} ${text}`)
      : fc.constant(field.name)
  })
  return fc
    .subarray(pieces)
    .chain((chosen) =>
      (chosen.length > 0 ? fc.tuple(...chosen) : fc.constant([])).map(
        (texts) => `{ __typename ${texts.join(' ')} }`,
      ),
    )
}
