import {
  getNamedType,
  isEnumType,
  isObjectType,
  isUnionType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql'
import type { Random } from './random.ts'

export interface RandomOperation {
  readonly query: string
  /** Variables that the query takes, other ones each time. */
  variables(): Readonly<Record<string, unknown>>
}

/** A query with aliases, fragments of every kind, merged fields, conditions and variables. */
export function randomOperation(random: Random, schema: GraphQLSchema): RandomOperation {
  const fragments: string[] = []
  const used = new Set<string>()
  let aliases = 0
  const query = schema.getQueryType() as GraphQLObjectType
  const roots = random.times(1, 3, () => {
    const field = random.pick(Object.values(query.getFields()))
    return `r${aliases++}: ${field.name}${args()}${condition()}${selectionOf(getNamedType(field.type), 0)}`
  })
  if (random.chance(0.1)) roots.push('__typename')
  const body = roots.join(' ')
  const declared = [...used].map((name) => `$${name}: ${variablesOf(query)[name]?.type}`)
  return {
    query: `query Q${declared.length === 0 ? '' : `(${declared.join(', ')})`} { ${body} }\n${fragments.join('\n')}`,
    variables: () =>
      Object.fromEntries(
        [...used].flatMap((name) => {
          const value = random.pick(variablesOf(query)[name]?.values ?? [])
          return value === undefined ? [] : [[name, value] as const]
        }),
      ),
  }

  function use(name: string): string {
    used.add(name)
    return `$${name}`
  }

  function args(): string {
    const given = [
      ...(random.chance(0.4) ? [`id: ${random.chance(0.5) ? '"7"' : use('id')}`] : []),
      ...(random.chance(0.3) ? [`count: ${random.chance(0.5) ? '"7"' : use('count')}`] : []),
      ...(random.chance(0.2) ? [`kinds: ${random.chance(0.5) ? '[]' : `[${use('kind')}]`}`] : []),
      ...(random.chance(0.2)
        ? [`in: ${random.chance(0.5) ? `{ on: true in: { on: ${use('on')} } }` : use('in')}`]
        : []),
    ]
    return given.length === 0 ? '' : `(${given.join(', ')})`
  }

  function condition(): string {
    if (random.chance(0.85)) return ''
    const value = random.pick(['true', 'false', 'yes', 'no'])
    return ` @${random.pick(['skip', 'include'])}(if: ${value.length > 3 ? value : use(value)})`
  }

  function selectionOf(type: GraphQLNamedType, depth: number): string {
    if (isUnionType(type)) {
      const member = random.pick(type.getTypes())
      return ` { __typename ${depth > 3 ? '' : `... on ${member.name}${selectionOf(member, depth + 1)}`} }`
    }
    return isObjectType(type) ? ` { ${fieldsOf(type, depth)} }` : ''
  }

  function fieldsOf(type: GraphQLObjectType, depth: number): string {
    const fields = Object.values(type.getFields())
    const joins = fields.filter(({ name }) => name.startsWith('join'))
    const chosen = random
      .times(1, 6, () => random.pick(joins.length > 0 && random.chance(0.2) ? joins : fields))
      .flatMap((field) => {
        const named = getNamedType(field.type)
        const isDeep = !isObjectType(named) && !isUnionType(named) ? false : depth > 2
        if (isDeep) return []
        const alias = random.chance(0.2) ? `a${aliases++}: ` : ''
        return [`${alias}${field.name}${condition()}${selectionOf(named, depth + 1)}`]
      })
    if (chosen.length === 0 || random.chance(0.15)) chosen.push('__typename')
    return chosen.map((field) => maybeInFragment(type, field)).join(' ')
  }

  function maybeInFragment(type: GraphQLObjectType, field: string): string {
    const kind = random.int(12)
    if (kind === 0) return `... on ${type.name}${condition()} { ${field} }`
    if (kind === 1) return `...${condition()} { ${field} }`
    if (kind !== 2) return field
    const name = `F${fragments.length}`
    fragments.push(`fragment ${name} on ${type.name} { ${field} }`)
    return `...${name}${condition()}`
  }
}

interface RandomVariable {
  readonly type: string
  readonly values: readonly unknown[]
}

/** `undefined` leaves a variable out. Some values are wrong, for errors. */
function variablesOf(query: GraphQLObjectType): Readonly<Record<string, RandomVariable>> {
  const args = Object.values(query.getFields())[0]?.args ?? []
  const typeOf = (name: string): GraphQLNamedType | undefined =>
    args.flatMap((arg) => (arg.name === name ? [getNamedType(arg.type)] : []))[0]
  const kind = typeOf('kinds')
  const kinds = isEnumType(kind) ? kind.getValues().map(({ name }) => name) : []
  return {
    id: { type: 'String', values: ['7', '8', null, undefined, 'Ł'] },
    count: {
      type: typeOf('count')?.name ?? 'String',
      values: ['7', '7', '7', undefined, null, '-9', '8', 'x'],
    },
    kind: { type: `${kind?.name}!`, values: [...kinds, ...kinds, 'NONE'] },
    on: { type: 'Boolean', values: [true, false, null, undefined] },
    in: {
      type: 'InInput',
      values: [
        { on: true },
        { on: false },
        { sizes: [] },
        { at: '2026-01-01T00:00:00Z', in: { in: {} } },
        { at: 'never' },
        undefined,
      ],
    },
    yes: { type: 'Boolean!', values: [true, true, false] },
    no: { type: 'Boolean! = false', values: [false, undefined, true] },
  }
}
