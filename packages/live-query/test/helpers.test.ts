import * as fc from 'fast-check'
import { parse, type FieldNode, type OperationDefinitionNode } from 'graphql'
import { describe, expect, it } from 'vitest'
import { cacheControlFor, detectFieldChanges, matchesFilter, parseQueryArguments } from '../src/index.ts'
import { matchesTrigger } from '../src/triggers/triggers.ts'
import type { Volatility } from '@vinyasa/core'

describe('detectFieldChanges', () => {
  it.each<[string, unknown, unknown, string, number, unknown[]]>([
    [
      'a changed field',
      { user: { name: 'a' } },
      { user: { name: 'b' } },
      '',
      10,
      [{ fieldPath: 'user.name', oldValue: 'a', newValue: 'b' }],
    ],
    [
      'starting from a path prefix',
      { name: 'a' },
      { name: 'b' },
      'data.user',
      10,
      [{ fieldPath: 'data.user.name', oldValue: 'a', newValue: 'b' }],
    ],
    [
      'list items by index',
      { users: [{ email: 1 }] },
      { users: [{ email: 2 }] },
      '',
      10,
      [{ fieldPath: 'users[0].email', oldValue: 1, newValue: 2 }],
    ],
    ['an item more', { l: [1] }, { l: [1, 2] }, '', 10, [{ fieldPath: 'l[1]', newValue: 2 }]],
    ['an item less', { l: [1, 2] }, { l: [1] }, '', 10, [{ fieldPath: 'l[1]', oldValue: 2, newValue: null }]],
    ['a new field', {}, { a: 1 }, '', 10, [{ fieldPath: 'a', newValue: 1 }]],
    [
      'null to an object',
      { u: null },
      { u: { a: 1 } },
      '',
      10,
      [{ fieldPath: 'u', oldValue: null, newValue: { a: 1 } }],
    ],
    [
      'down to a maximum depth',
      { a: { b: { c: 1 } } },
      { a: { b: { c: 2 } } },
      '',
      2,
      [{ fieldPath: 'a.b', oldValue: { c: 1 }, newValue: { c: 2 } }],
    ],
    ['nothing below the depth', { a: { b: { c: 1 } } }, { a: { b: { c: 1 } } }, '', 2, []],
    [
      'the whole result gone: its fields, never the root',
      { a: 1, b: 2 },
      null,
      '',
      10,
      [
        { fieldPath: 'a', oldValue: 1, newValue: null },
        { fieldPath: 'b', oldValue: 2, newValue: null },
      ],
    ],
    ['the whole result back', null, { a: 1 }, '', 10, [{ fieldPath: 'a', newValue: 1 }]],
    [
      'an object where a list was',
      { a: [] },
      { a: {} },
      '',
      10,
      [{ fieldPath: 'a', oldValue: [], newValue: {} }],
    ],
  ])('%s', (_, previous, next, prefix, maxDepth, expected) => {
    expect(detectFieldChanges(previous, next, prefix, maxDepth)).toEqual(expected)
  })

  it('goes ten steps down from the root by default', () => {
    expect(detectFieldChanges({ a: 1 }, { a: 2 })).toEqual([{ fieldPath: 'a', oldValue: 1, newValue: 2 }])
    const deep = (value: number): object =>
      Array.from({ length: 11 }).reduce<object>((below) => ({ a: below }), { a: value })
    const [{ fieldPath } = { fieldPath: '' }] = detectFieldChanges(deep(1), deep(2))
    expect(fieldPath.split('.')).toHaveLength(10)
  })

  it('finds something exactly when the results differ, and never an empty path', () => {
    const data = fc.dictionary(fc.string({ minLength: 1, maxLength: 3 }), fc.jsonValue({ maxDepth: 3 }), {
      noNullPrototype: true,
    })
    fc.assert(
      fc.property(data, data, fc.integer({ min: 1, max: 4 }), (previous, next, depth) => {
        const changes = detectFieldChanges(previous, next, '', depth)
        expect(changes.length > 0).toBe(JSON.stringify(sorted(previous)) !== JSON.stringify(sorted(next)))
        expect(changes.every(({ fieldPath }) => fieldPath !== '')).toBe(true)
        expect(detectFieldChanges(previous, structuredClone(previous))).toEqual([])
      }),
      { numRuns: 500 },
    )
  })
})

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 'minus zero' : value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, sorted(v)]),
  )
}

describe('cacheControlFor: data volatility levels map to hints', () => {
  it.each<[Volatility, number, boolean]>([
    ['VeryHigh', 0, false],
    ['High', 5, false],
    ['Medium', 30, false],
    ['Low', 300, true],
    ['VeryLow', 3600, false],
  ])('%s → max_age %i, must_revalidate %s', (volatility, max_age, must_revalidate) => {
    expect(cacheControlFor(volatility)).toEqual({ max_age, public: false, must_revalidate })
    expect(cacheControlFor(volatility, '"x"')).toMatchObject({ etag: '"x"' })
  })
})

describe('parseQueryArguments and matchesFilter', () => {
  const field = (text: string): FieldNode => {
    const operation = parse(`query ($v: Status, $none: Status, $o: Filter) ${text}`)
      .definitions[0] as OperationDefinitionNode
    return operation.selectionSet.selections[0] as FieldNode
  }

  it.each<[string, Record<string, unknown>, Record<string, string>]>([
    ['{ users { id } }', {}, {}],
    ['{ users(status: ONLINE) { id } }', {}, { status: 'ONLINE' }],
    [
      '{ users(status: "ONLINE", first: 5, on: true) { id } }',
      {},
      { status: 'ONLINE', first: '5', on: 'true' },
    ],
    ['{ users(status: $v) { id } }', { v: 'AWAY' }, { status: 'AWAY' }],
    ['{ users(status: $none, name: null) { id } }', {}, {}],
    ['{ users(ids: [1, 2]) { id } }', {}, { ids: '[1, 2]' }],
  ])('%s', (text, variables, expected) => {
    expect(Object.fromEntries(parseQueryArguments(field(text), variables))).toEqual(expected)
  })

  it.each<[Record<string, unknown>, Record<string, string>, boolean]>([
    [{ status: 'ONLINE' }, { status: 'ONLINE' }, true],
    [{ status: 'AWAY' }, { status: 'ONLINE' }, false],
    [{ age: 5, on: true }, { age: '5', on: 'true' }, true],
    [{ id: '1' }, { first: '5' }, true],
    [{ status: null }, { status: 'ONLINE' }, false],
    [{}, {}, true],
  ])('%o against %o: %s', (entity, filter, expected) => {
    expect(matchesFilter(entity, new Map(Object.entries(filter)))).toBe(expected)
  })
})

describe('matchesTrigger', () => {
  it.each<[string, string, string, boolean]>([
    ['User.update', 'User', 'update', true],
    ['User.update', 'User', 'create', false],
    ['User.update', 'Users', 'update', false],
    ['User.*', 'User', 'promote', true],
    ['*.delete', 'Anything', 'delete', true],
    ['*.*', 'Anything', 'whatever', true],
    ['User.update', '*', '*', true],
    ['User.update', 'User', '*', true],
    ['User.update', 'Product', '*', false],
  ])('%s against %s %s: %s', (trigger, entityType, operation, expected) => {
    expect(matchesTrigger(trigger, { entityType, operation })).toBe(expected)
  })
})
