import * as fc from 'fast-check'
import { buildSchema, parse } from 'graphql'
import { describe, expect, it } from 'vitest'
import { profileDocument } from '../src/document/document-profile.ts'
import { createRequestKeyFactory } from '../src/document/request-key.ts'
import { typeDefs } from './kit.ts'

const schema = buildSchema(typeDefs)
const keyOf = createRequestKeyFactory()

interface Spelled {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

function key({ query, variables, headers }: Spelled): string {
  const profile = profileDocument(schema, parse(query), 'A', {
    idFields: ['id'],
    varyHeaders: ['Authorization', 'X-Tenant'],
  })
  const made = profile && keyOf(profile, { operationName: 'A', variables, headers: new Headers(headers) })
  if (!made) throw new Error(`no key for ${query}`)
  return made.key
}

type Words = readonly string[]

const leaf = fc.constantFrom('id', 'name', '__typename')
const alias = fc.constantFrom([], ['x', ':'], ['y', ':'])
const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '#', ',', '{', 'é', '🙂') })
const field = fc.tuple(alias, leaf).map(([name, word]): Words => [...name, word])
const argument = fc.oneof(
  fc.integer({ min: 0, max: 99 }).map((limit): Words => ['limit', ':', String(limit)]),
  text.map((filter): Words => ['filter', ':', JSON.stringify(filter)]),
  fc.constant<Words>(['filter', ':', '$', 'filter']),
)

/** A query as words between which anything that GraphQL ignores may stand. */
const query = fc
  .record({
    args: fc.uniqueArray(argument, { selector: ([name]) => name, maxLength: 2 }),
    fields: fc.array(field, { minLength: 1, maxLength: 4 }),
    hasUser: fc.boolean(),
  })
  .map(({ args, fields, hasUser }): Words => {
    const usesVariable = args.some((words) => words.includes('$'))
    const declared = usesVariable ? ['(', '$', 'filter', ':', 'String', ')'] : []
    const given = args.length > 0 ? ['(', ...args.flat(), ')'] : []
    const user = hasUser ? ['me', '{', 'id', '}'] : []
    return ['query', 'A', ...declared, '{', 'products', ...given, '{', ...fields.flat(), '}', ...user, '}']
  })

const gap = fc.constantFrom(' ', '\n', '\t', ',', ' , ', '\r\n', ' # a comment } "\n', '\uFEFF ')
const gaps = fc.array(gap, { minLength: 1, maxLength: 60 })
const spell = (words: Words, between: readonly string[]): string =>
  words.map((word, index) => `${word}${between[index % between.length]}`).join('')

const value = fc.jsonValue({ maxDepth: 2 })
const variables = fc.dictionary(fc.constantFrom('filter', 'a', 'b'), value)

describe('for any query the key', () => {
  const check = <T extends [unknown, ...unknown[]]>(
    arbitraries: { [K in keyof T]: fc.Arbitrary<T[K]> },
    predicate: (...args: T) => void,
  ): void => fc.assert(fc.property(...arbitraries, predicate), { numRuns: 500 })

  it('does not depend on whitespace, commas and comments', () => {
    check([query, gaps, gaps], (words, one, other) => {
      expect(key({ query: spell(words, one) })).toBe(key({ query: spell(words, other) }))
    })
  })

  it('does not depend on other operations and unused fragments', () => {
    check([query, query, fc.boolean()], (words, another, isFirst) => {
      const one = spell(words, [' '])
      const unused = `${spell(another, [' ']).replace('query A', 'query B')} fragment F on User { id }`
      expect(key({ query: isFirst ? `${unused} ${one}` : `${one} ${unused}` })).toBe(key({ query: one }))
    })
  })

  it('does not depend on the order of variables, at any depth, nor on undeclared ones', () => {
    check([query, variables], (words, given) => {
      const spelled = spell(words, [' '])
      const reversed = reverseMembers({ ...given, undeclared: 1 }) as Record<string, unknown>
      expect(key({ query: spelled, variables: reversed })).toBe(key({ query: spelled, variables: given }))
    })
  })

  it('does not depend on headers that do not vary', () => {
    check([query, fc.string({ unit: fc.constantFrom('a', '1', ':') })], (words, id) => {
      const spelled = spell(words, [' '])
      expect(key({ query: spelled, headers: { 'x-request-id': id } })).toBe(key({ query: spelled }))
    })
  })

  it('differs for every value of each vary header, and absent is not empty', () => {
    const header = fc.option(fc.constantFrom('', 'a', 'b', 'a, b', '1:a'), { nil: undefined })
    const pair = fc.tuple(header, header)
    check([query, pair, pair], (words, one, other) => {
      const spelled = spell(words, [' '])
      const keyFor = ([authorization, tenant]: readonly (string | undefined)[]): string =>
        key({
          query: spelled,
          headers: {
            ...(authorization === undefined ? {} : { authorization }),
            ...(tenant === undefined ? {} : { 'x-tenant': tenant }),
          },
        })
      const isSame = one[0] === other[0] && one[1] === other[1]
      expect(keyFor(one) === keyFor(other)).toBe(isSame)
    })
  })

  it('differs for arguments in another order, and for any change of a word', () => {
    check([text, fc.integer({ min: 0, max: 9 })], (filter, limit) => {
      const written = [`limit: ${limit}`, `filter: ${JSON.stringify(filter)}`]
      const of = (args: readonly string[]): string =>
        key({ query: `query A { products(${args.join(' ')}) { id } }` })
      expect(of(written)).not.toBe(of(written.toReversed()))
      expect(of(written)).not.toBe(of([`limit: ${limit + 1}`, written[1] ?? '']))
      expect(of(written)).not.toBe(of([written[0] ?? '', `filter: ${JSON.stringify(`${filter} `)}`]))
    })
  })
})

function reverseMembers(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(reverseMembers)
  if (typeof given !== 'object' || given === null) return given
  return Object.fromEntries(
    Object.entries(given)
      .toReversed()
      .map(([name, member]) => [name, reverseMembers(member)]),
  )
}
