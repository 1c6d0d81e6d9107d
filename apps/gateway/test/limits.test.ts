import { parse } from 'graphql'
import { describe, expect, it } from 'vitest'
import { measureOperation } from '../src/limits/measure-operation.ts'
import { type DocumentLimits, scanTokens } from '../src/limits/scan-tokens.ts'

const unlimited: DocumentLimits = {
  maxTokens: 0,
  maxDepth: 0,
  maxAliases: 0,
  maxDirectives: 0,
  maxDuplicateFields: 0,
}
const code = 'DOCUMENT_LIMIT_EXCEEDED'

function codeOf(run: () => void): unknown {
  try {
    run()
  } catch (error) {
    return (error as { extensions?: { code?: unknown } }).extensions?.code
  }
  return undefined
}

describe('scanTokens', () => {
  it.each([
    ['the limit itself of tokens', '{ a b }', { maxTokens: 4 }, undefined],
    ['one token more', '{ a b }', { maxTokens: 3 }, code],
    ['depth as written', '{ a { b { c } } }', { maxDepth: 3 }, undefined],
    ['one level more', '{ a { b { c } } }', { maxDepth: 2 }, code],
    ['objects in arguments are not depth', '{ a(x: { y: { z: 1 } }) }', { maxDepth: 1 }, undefined],
    ['aliases', '{ x: a y: b }', { maxAliases: 1 }, code],
    [
      'arguments are not aliases',
      'query Q($a: Int, $b: Int) { f(a: $a, b: $b) }',
      { maxAliases: 1 },
      undefined,
    ],
    ['aliases of __typename', '{ x: __typename y: __typename }', { maxAliases: 1 }, code],
    ['directives at one location', '{ a @x @x @x }', { maxDirectives: 2 }, code],
    [
      'directives with arguments at one place',
      '{ a @x(if: true) @x(if: true) @x(if: true) }',
      { maxDirectives: 2 },
      code,
    ],
    ['directives at different places', '{ a @x @x b @x @x }', { maxDirectives: 2 }, undefined],
    ['a field repeated', '{ a a a }', { maxDuplicateFields: 2 }, code],
    ['a field under different aliases', '{ x: a y: a z: a }', { maxDuplicateFields: 2 }, undefined],
    ['a field repeated in different places', '{ a { a { a } } }', { maxDuplicateFields: 1 }, undefined],
    [
      'spreads of one type',
      '{ ... on T { a } ... on T { b } ... on T { c } }',
      { maxDuplicateFields: 1 },
      undefined,
    ],
    ['nested brackets with no limit set', `{ a(x: ${'['.repeat(600)}`, {}, code],
    ['lines with no limit set', `{ a ${'#\n'.repeat(30_000)} }`, {}, code],
    ['lines of a block string with no limit set', `{ a(x: """${'\r'.repeat(30_000)}""") }`, {}, code],
    ['deep selections with no limit set', '{ a '.repeat(20_000), {}, code],
  ] as const)('%s', (_, text, limits, expected) => {
    expect(codeOf(() => scanTokens(text, { ...unlimited, ...limits }))).toBe(expected)
  })

  it('stops at the first limit passed: what follows is not even read', () => {
    const huge = `{ ${'a: b '.repeat(50_000)}`
    expect(codeOf(() => scanTokens(huge, { ...unlimited, maxAliases: 30 }))).toBe(code)
    const notGraphql = `{ ${'a: b '.repeat(31)} \\ }`
    expect(codeOf(() => scanTokens(notGraphql, { ...unlimited, maxAliases: 30 }))).toBe(code)
    expect(() => scanTokens(notGraphql, { ...unlimited, maxAliases: 31 })).toThrow('Syntax Error')
  })
})

describe('measureOperation', () => {
  const nested =
    'fragment A on Q { a { ...B } } fragment B on Q { b { ...C } } fragment C on Q { c } { ...A }'

  it('expands fragments for depth', () => {
    expect(codeOf(() => measureOperation(parse(nested), { maxDepth: 3 }))).toBeUndefined()
    expect(codeOf(() => measureOperation(parse(nested), { maxDepth: 2 }))).toBe(code)
  })

  it('measures a fragment once, however often it is spread', () => {
    const levels = Array.from(
      { length: 40 },
      (_, i) => `fragment F${i} on Q { ...F${i + 1} ...F${i + 1} }`,
    ).join('\n')
    const bomb = parse(`${levels} fragment F40 on Q { a { b } } { ...F0 }`)
    expect(codeOf(() => measureOperation(bomb, { maxDepth: 2 }))).toBeUndefined()
    expect(codeOf(() => measureOperation(bomb, { maxDepth: 1 }))).toBe(code)
  })

  it('ends on fragments that spread themselves', () => {
    const loop = parse('fragment A on Q { a { ...B } } fragment B on Q { b { ...A } } { ...A }')
    expect(codeOf(() => measureOperation(loop, { maxDepth: 10 }))).toBeUndefined()
  })

  it('does not measure introspection', () => {
    const deep = parse('{ __schema { types { fields { type { ofType { ofType { name } } } } } } }')
    expect(codeOf(() => measureOperation(deep, { maxDepth: 2 }))).toBeUndefined()
  })
})
