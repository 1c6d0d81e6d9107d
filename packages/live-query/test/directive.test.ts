import { Kind, parse, print, type OperationDefinitionNode } from 'graphql'
import { describe, expect, it } from 'vitest'
import { liveDirectiveValues } from '../src/document/directive.ts'
import { hasLiveDirective, stripLiveDirective } from '../src/document/directive.ts'

function valuesOf(query: string, variables: Record<string, unknown> = {}): unknown {
  const operation = parse(query).definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION)
  return liveDirectiveValues(operation as OperationDefinitionNode, variables)
}

describe('@live', () => {
  it.each<[string, Record<string, unknown>, unknown]>([
    ['{ a }', {}, undefined],
    ['query @live { a }', {}, { throttleMs: undefined }],
    ['query @live(if: true) { a }', {}, { throttleMs: undefined }],
    ['query @live(if: false) { a }', {}, undefined],
    ['query ($l: Boolean!) @live(if: $l) { a }', { l: false }, undefined],
    ['query ($l: Boolean!) @live(if: $l) { a }', { l: true }, { throttleMs: undefined }],
    ['query ($l: Boolean! = false) @live(if: $l) { a }', {}, undefined],
    ['query ($l: Boolean! = false) @live(if: $l) { a }', { l: true }, { throttleMs: undefined }],
    ['query @live(throttle: 500) { a }', {}, { throttleMs: 500 }],
    ['query ($t: Int) @live(throttle: $t) { a }', { t: 250 }, { throttleMs: 250 }],
    ['query ($t: Int = 70) @live(throttle: $t) { a }', {}, { throttleMs: 70 }],
    ['query @live(throttle: -5) { a }', {}, { throttleMs: 0 }],
  ])('%s with %o', (query, variables, expected) => {
    expect(valuesOf(query, variables)).toEqual(expected)
  })

  it('is found on any operation, and nowhere else', () => {
    expect(hasLiveDirective(parse('query A { a } query B @live { b }'))).toBe(true)
    expect(hasLiveDirective(parse('query A @alive { a @live }'))).toBe(false)
  })

  it('is stripped, with @defer and @stream, which an always complete result has no use for', () => {
    const document = parse('query @live @keep { a ... @defer { b } list @stream { c } d @include(if: true) }')
    expect(print(stripLiveDirective(document))).toBe(
      print(parse('query @keep { a ... { b } list { c } d @include(if: true) }')),
    )
  })

  it.each([
    ['query ($l: Boolean!) @live(if: $l) { a }', '{ a }'],
    ['query ($l: Boolean!, $i: ID) @live(if: $l) { a(id: $i) }', 'query ($i: ID) { a(id: $i) }'],
    [
      'query ($l: Boolean!) @live(if: $l) { a @include(if: $l) }',
      'query ($l: Boolean!) { a @include(if: $l) }',
    ],
    [
      'query A($l: Boolean!) @live(if: $l) { ...F } query B($l: Boolean!) @live(if: $l) { ...G } fragment F on Q { ...H } fragment G on Q { a } fragment H on Q { a @skip(if: $l) }',
      'query A($l: Boolean!) { ...F } query B { ...G } fragment F on Q { ...H } fragment G on Q { a } fragment H on Q { a @skip(if: $l) }',
    ],
    ['query ($d: Boolean) @live { ... @defer(if: $d) { a } }', '{ ... { a } }'],
    ['query ($unused: Int) @live { a }', 'query ($unused: Int) { a }'],
  ])('%s is stripped of what only @live and @defer used', (query, expected) => {
    expect(print(stripLiveDirective(parse(query)))).toBe(print(parse(expected)))
  })
})
