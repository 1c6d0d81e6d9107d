import { getOperationAST, parse, print } from 'graphql'
import { expect, it } from 'vitest'
import {
  directiveVariables,
  fragmentsOf,
  usedFragments,
  usedVariables,
  withDefaults,
  withoutDirectives,
} from '../../src/documents/index.ts'

const document = parse(`
  query A($a: Int, $b: Int = 2, $c: [Int] = [3], $d: Boolean, $e: Boolean) { x(of: $a) ...F @later(if: $d) }
  query B($d: Boolean, $e: Boolean) { ...H @later(if: $d, in: [$e]) }
  fragment F on Query { y(of: { in: [$b] }) ...G }
  fragment G on Query { z @skip(if: $c) ...F ...None }
  fragment H on Query { w @include(if: $e) }
`)

it('finds the variables and fragments that an operation uses, also in its fragments', () => {
  const operation = getOperationAST(document, 'A')!
  const fragments = fragmentsOf(document)
  expect(usedFragments(operation, fragments).map(({ name }) => name.value)).toEqual(['F', 'G'])
  expect([...usedVariables(operation, fragments)]).toEqual(['a', 'd', 'b', 'c'])
})

it('directiveVariables returns the variables of the directives', () => {
  expect([...directiveVariables(document, new Set(['later', 'skip']))]).toEqual(['d', 'e', 'c'])
})

it('removes the variables that only removed directives use, per operation', () => {
  expect(print(withoutDirectives(document, new Set(['later'])))).toBe(
    print(
      parse(`
        query A($a: Int, $b: Int = 2, $c: [Int] = [3]) { x(of: $a) ...F }
        query B($e: Boolean) { ...H }
        fragment F on Query { y(of: { in: [$b] }) ...G }
        fragment G on Query { z @skip(if: $c) ...F ...None }
        fragment H on Query { w @include(if: $e) }
      `),
    ),
  )
})

it('withDefaults adds default values for missing variables', () => {
  const operation = getOperationAST(document, 'A')!
  expect(withDefaults(operation, { a: 1, c: null })).toEqual({ a: 1, b: 2, c: null })
  expect(withDefaults(operation, null)).toEqual({ b: 2, c: [3] })
})
