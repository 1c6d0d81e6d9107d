import * as fc from 'fast-check'
import { GraphQLScalarType, parse } from 'graphql'
import { createSchema } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import type { Operation } from '@vinyasa/core/pipeline'
import { usePipeline } from '../src/index.ts'
import { scanLiterals } from '../../core/src/pipeline/literals.ts'
import { bytesOf, type Doors, exchange, graphql, openDoors, type YogaOptions } from './doors.ts'
import { countShortRuns } from './short-runs.ts'

const schema = createSchema({
  typeDefs: /* GraphQL */ `
    scalar Any
    enum Color {
      RED
      GREEN
    }
    input In {
      id: ID
      n: [Int!]
      color: Color
      next: In
      text: String! = "none"
    }
    interface Node {
      id(prefix: String = "of"): ID
    }
    type Thing implements Node {
      id(prefix: String = "of"): ID
      echo(
        id: ID
        s: String!
        i: Int! = 3
        f: Float
        l: [[Int]!]
        o: In
        c: Color
        b: Boolean
        a: Any
      ): String
      fails(s: String, i: Int): String!
      thing(id: ID): Thing
      node(id: ID): Node
    }
    type Query {
      thing(id: ID): Thing
      things(ids: [ID!]): [Thing!]
    }
    type Mutation {
      add(o: In, id: ID): Thing
    }
  `,
  resolvers: {
    Any: new GraphQLScalarType({ name: 'Any' }),
    Node: { __resolveType: () => 'Thing' },
    Query: {
      thing: (_parent, args) => args as unknown,
      things: (_parent, { ids }: { ids?: string[] }) => (ids ?? []).map((id) => ({ id })),
    },
    Mutation: { add: (_parent, { o }: { o?: object }) => o },
    Thing: {
      id: ({ id }: { id?: string }, { prefix }: { prefix: string }) => `${prefix}${JSON.stringify(id)}`,
      echo: (_parent, args) => JSON.stringify(args),
      fails: (_parent, args) => {
        throw new Error(`a secret of ${JSON.stringify(args)}`)
      },
      thing: (_parent, args) => args as unknown,
      node: (_parent, args) => args as unknown,
    },
  },
})

async function open(more: () => YogaOptions = () => ({})): Promise<Doors & { readonly calls: Operation[] }> {
  const { plugin, calls } = countShortRuns()
  const doors = await openDoors(() => ({
    schema: schema as never,
    ...more(),
    plugins: [...(more().plugins ?? []), usePipeline({ liftLiterals: true }), plugin],
  }))
  return { ...doors, calls }
}

// Of every kind, at the edges of their types, and beyond.
const int = fc.oneof(
  fc.integer({ min: -20, max: 20 }).map(String),
  fc.constantFrom('2147483647', '2147483648', '-2147483648', '12345678901234567890', '-0', '007'),
)
const float = fc.constantFrom('1.5', '-0.0', '1e3', '1e400', '0.1E-2', '1.', '5')
const text = fc.oneof(
  fc.stringMatching(/^[a-z #$@{}(),:]{0,6}$/).map((value) => JSON.stringify(value)),
  fc.constantFrom(
    '"\\n"',
    '"\\u00e9"',
    '"ü"',
    '"😀"',
    '""',
    '"""block "quoted" \\""" 1"""',
    '"a\tb"',
    '"\\"',
    '"1"',
  ),
)
const literal = fc.oneof(int, float, text, fc.constantFrom('null', 'true', 'RED', '$v', '[]', '{}'))
const object = fc
  .array(fc.tuple(fc.constantFrom('id', 'n', 'color', 'text', 'next'), literal), { maxLength: 3 })
  .map((members) => `{${members.map(([name, value]) => `${name}: ${value}`).join(', ')}}`)
const value = fc.oneof(
  { weight: 6, arbitrary: literal },
  { weight: 1, arbitrary: object },
  { weight: 1, arbitrary: fc.array(literal, { maxLength: 3 }).map((items) => `[${items.join(' ')}]`) },
)
/** An argument and what it mostly is. */
const argument = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.oneof(fc.tuple(fc.constant('id'), fc.oneof(int, text)), fc.tuple(fc.constant('i'), int)),
  },
  { weight: 2, arbitrary: fc.tuple(fc.constant('f'), fc.oneof(int, float)) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('o'), object) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom('l', 'c', 'b', 'a', 'i', 'f', 'id'), value) },
)
const echo = fc.tuple(fc.array(argument, { maxLength: 3 }), text).map(([given, s]) => {
  const named = new Map(given)
  return `echo(s: ${s}${[...named].map(([name, each]) => `, ${name}: ${each}`).join('')})`
})
const field = fc.oneof(
  { weight: 4, arbitrary: echo },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'id',
      'id(prefix: "p1")',
      'id @include(if: $b)',
      'again: id(prefix: "p1") again: id(prefix: "p2")',
      'thing(id: 7) { id }',
      'node(id: "8") { ... on Thing { id(prefix: "q") } }',
      '...More',
      '... on Thing @skip(if: false) { __typename }',
      'x1: __typename # not "a literal 1',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('fails', 'fails(i: 9)', '\n  fails(s: "x")') },
)
const document = fc
  .tuple(
    fc.constantFrom(
      '',
      'query Named',
      'query ($b: Boolean = true)',
      'query ($v: ID = "5", $b: Boolean = false)',
    ),
    fc.oneof(int, text),
    fc.array(field, { minLength: 1, maxLength: 3 }),
  )
  .map(
    ([head, id, fields]) =>
      `${head}{ thing(id: ${id}) { ${fields.join(' ')} } }` +
      (fields.includes('...More') ? ' fragment More on Thing { more: thing(id: "m", ) { id } }' : ''),
  )

/** The same with other numbers and texts. */
function changed(query: string, by: number): string {
  return query
    .replaceAll(/(?<=[ ([:])-?\d+(?=[ ,)\]}])/g, (found) => (by % 2 ? `${by}` : `${found}${by}`))
    .replaceAll(/"([a-z]+)"/g, `"$1${'z'.repeat(by)}"`)
}

it(
  'answers documents alike that differ in their literals, errors and their places included',
  { timeout: 240_000 },
  async () => {
    const doors = await open()
    let wasShort = 0
    await fc.assert(
      fc.asyncProperty(
        document,
        fc.constantFrom(undefined, { b: true }, { v: 'w', b: false }, { v: 1 }),
        async (query, variables) => {
          for (let by = 0; by < 4; by++) {
            const body = graphql(changed(query, by), { variables })
            const yoga = await exchange(doors.yoga, bytesOf({ body }))
            const before = doors.calls.length
            expect([query, by, await exchange(doors.thin, bytesOf({ body }))]).toEqual([query, by, yoga])
            wasShort += doors.calls.length - before
          }
        },
      ),
      { numRuns: 150 },
    )
    // Some forty of 600, mostly: two of each document that is valid. What is lifted at all, the table below says.
    expect(wasShort).toBeGreaterThan(4)
  },
)

describe('a document that differs from known ones in its literals alone', () => {
  const cases: readonly (readonly [sentence: string, query: (n: number) => string, isLifted: boolean])[] = [
    ['an id as text', (n) => `{ thing(id: "${n}") { id } }`, true],
    ['an id as number', (n) => `{ thing(id: ${n}) { id } }`, true],
    ['in a list', (n) => `{ things(ids: ["a", "${n}"]) { id } }`, true],
    ['in an object', (n) => `{ thing { echo(s: "", o: { n: [${n}] }) } }`, true],
    ['in a fragment', (n) => `{ thing { ...F } } fragment F on Thing { id(prefix: "${n}") }`, true],
    ['beside variables', (n) => `query ($v: ID) { thing(id: $v) { id(prefix: "${n}") } }`, true],
    ['of a mutation', (n) => `mutation { add(o: { id: "${n}", n: [${n}] }) { id } }`, true],
    ['of some fields', (n) => `mutation { a: add(id: ${n}) { id } b: add(o: { id: ${n} }) { id } }`, true],
    ['with other text around it', (n) => `{ thing(id: ${n}) {${' '.repeat(n)}id } }`, false],
    ['a default', (n) => `query ($v: ID = ${n}) { thing(id: $v) { id } }`, false],
    ['of a scalar of its own', (n) => `{ thing { echo(s: "", a: ${n}) } }`, false],
    ['two that must be the same', (n) => `{ thing { a: id(prefix: "${n}") a: id(prefix: "${n}") } }`, false],
    [
      'beside a variable of that name',
      (n) => `query ($lifted_0: ID) { thing(id: $lifted_0) { id(prefix: "${n}") } }`,
      false,
    ],
    ['beside another operation', (n) => `query A { thing(id: ${n}) { id } } query B { thing { id } }`, false],
  ]
  it.each(cases)('%s', async (_sentence, query, isLifted) => {
    const doors = await open()
    for (let n = 1; n <= 4; n++) {
      const body = graphql(query(n), query(n).includes('query A') ? { operationName: 'A' } : {})
      expect(await exchange(doors.thin, bytesOf({ body }))).toBe(
        await exchange(doors.yoga, bytesOf({ body })),
      )
    }
    expect(doors.calls).toHaveLength(isLifted ? 2 : 0)
  })

  it('shows the context what was sent, and parts what is executed', async () => {
    const doors = await open()
    for (const id of [1, 2, 3])
      await exchange(doors.thin, bytesOf({ body: graphql(`{ thing(id: ${id}) { id } }`) }))
    const [call] = doors.calls
    expect(call?.context['params']).toEqual({ query: '{ thing(id: 3) { id } }' })
    expect(call?.params.variables).toEqual({ lifted_0: '3' })
    expect(parse(call?.params.query ?? '').kind).toBe('Document')
  })

  it('is a new one without the option', async () => {
    const { plugin, calls } = countShortRuns()
    const doors = await openDoors(() => ({ schema: schema as never, plugins: [usePipeline(), plugin] }))
    for (const id of [1, 2, 3])
      await exchange(doors.thin, bytesOf({ body: graphql(`{ thing(id: ${id}) { id } }`) }))
    expect(calls).toEqual([])
  })
})

it('finds literals where graphql finds them', () => {
  fc.assert(
    fc.property(document, (query) => {
      const scanned = scanLiterals(query)
      if (!scanned) return
      const whole = scanned.literals.reduce(
        (text, { kind, raw }) =>
          text.replace(kind === 'string' ? '\u0001' : '\u0002', () => (kind === 'string' ? `"${raw}"` : raw)),
        scanned.shape,
      )
      expect(whole).toBe(query)
      for (const { kind, start, raw } of scanned.literals)
        expect(query.slice(start, start + raw.length + (kind === 'string' ? 2 : 0))).toBe(
          kind === 'string' ? `"${raw}"` : raw,
        )
    }),
  )
})
