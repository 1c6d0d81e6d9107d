import { assert, jsonValue, nat, property, type JsonValue } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkJson } from '../src/json-limits.ts'

/** What stands beside the value, so that no body is harmless for its size. */
const LONG = 'x'.repeat(5_000)

function depthOf(value: JsonValue | undefined): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

function itemsOf(value: JsonValue | undefined): number {
  if (typeof value !== 'object' || value === null) return 0
  const members = Object.values(value)
  return Math.max(1, members.length) + members.reduce<number>((sum, member) => sum + itemsOf(member), 0)
}

describe('JSON', () => {
  it('of any texts is counted as its value has it, however it is written', () => {
    assert(
      property(jsonValue({ maxDepth: 5 }), nat(3), (value, indent) => {
        const written = [value, LONG] as JsonValue
        const bytes = Buffer.from(JSON.stringify(written, undefined, indent))
        const items = itemsOf(JSON.parse(bytes.toString()) as JsonValue)
        expect(() => checkJson(bytes, items)).not.toThrow()
        expect(() => checkJson(bytes, items - 1)).toThrow('more items')
      }),
      { numRuns: 500 },
    )
  })

  it('is refused from 201 levels on, of lists and objects in any order', () => {
    assert(
      property(nat(300), nat(2 ** 30), (depth, kinds) => {
        let text = '0'
        for (let level = 0; level < depth; level++)
          text = (kinds >>> (level % 30)) & 1 ? `[${text}]` : `{"a]}":${text}}`
        const bytes = Buffer.from(`${text}${' '.repeat(5_000)}`)
        expect(depthOf(JSON.parse(text) as JsonValue)).toBe(depth)
        let refusal = ''
        try {
          checkJson(bytes, Infinity)
        } catch (error) {
          refusal = String(error)
        }
        expect(refusal.includes('nested deeper')).toBe(depth > 200)
      }),
    )
  })

  it('that is none is left to the parser', () => {
    for (const text of ['"', '"\\', ']'.repeat(10), '{"a', '\\"[', 'nonsense'])
      expect(() => checkJson(Buffer.from(`${' '.repeat(5_000)}${text}`), 100)).not.toThrow()
  })

  it('of 4 MB of brackets is refused at once', () => {
    const bytes = Buffer.alloc(4_000_000, '[')
    const from = performance.now()
    expect(() => checkJson(bytes, Infinity)).toThrow('nested deeper')
    const brackets = performance.now() - from
    const parsedFrom = performance.now()
    expect(() => JSON.parse(bytes.toString()) as unknown).toThrow(SyntaxError)
    expect(brackets).toBeLessThan(performance.now() - parsedFrom)
  })
})
