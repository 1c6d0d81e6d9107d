import * as fc from 'fast-check'
import { query } from 'json-p3'
import { describe, expect, it } from 'vitest'
import { compileResponsePath } from '../src/templates/response-path.ts'

const document = {
  field: 1,
  nested: { field: { deep: 'x' }, 'a-b': 2, "it's": 3, '': 4 },
  array: [{ field: 'first' }, [10, 20]],
  nothing: null,
}

describe('compileResponsePath', () => {
  it.each([
    ['$', document],
    ['$.field', 1],
    ['$.nested.field', { deep: 'x' }],
    ['$.nested.field.deep', 'x'],
    ['$.array[0]', { field: 'first' }],
    ['$.array[0].field', 'first'],
    ['$.array[1][1]', 20],
    ["$.nested['a-b']", 2],
    ['$["nested"]["a-b"]', 2],
    ["$.nested['it\\'s']", 3],
    ["$.nested['']", 4],
  ])('%s finds what is there', (path, expected) => {
    expect(compileResponsePath(path)(document)).toEqual(expected)
  })

  it.each([
    '$.missing',
    '$.field.deeper',
    '$.array[9]',
    '$.array.length',
    '$.array[0][0]',
    '$.nested[0]',
    '$.nothing.field',
    '$.constructor',
    '$.__proto__',
    '$.field.toString',
    "$['hasOwnProperty']",
  ])('%s gives null for what is not there, also on prototypes', (path) => {
    expect(compileResponsePath(path)(document)).toBeNull()
  })

  it.each([
    ['', 0],
    ['field', 0],
    ['@.field', 0],
    ['$field', 1],
    ['$.', 1],
    ['$..field', 1],
    ['$.a[*]', 3],
    ['$.a[-1]', 3],
    ['$.a[0:2]', 3],
    ['$.a[?(@.x)]', 3],
    ['$.a[(process.exit())]', 3],
    ["$.a['b", 3],
    ['$.a b', 3],
    ['$.a[0', 3],
  ])('%j is refused with the position %i', (path, position) => {
    expect(() => compileResponsePath(path)).toThrow(`has a syntax error at position ${position};`)
  })

  it('agrees with an RFC 9535 implementation on generated documents and paths', () => {
    const names = fc.constantFrom('a', 'b', 'c_1', 'a-b', "it's", 'constructor', 'é', '')
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(0, 'x', true, null),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(names, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }))
    const step = fc.oneof(
      fc.constantFrom('.a', '.b', '.c_1', '.constructor', '.é'),
      fc.constantFrom("['a-b']", "['it\\'s']", '["a"]', "['']", '["c_1"]'),
      fc.nat(3).map((index) => `[${index}]`),
    )
    fc.assert(
      fc.property(tree, fc.array(step, { maxLength: 4 }), (value, steps) => {
        const path = `$${steps.join('')}`
        const [expected = null] = query(path, value as never).values()
        expect(compileResponsePath(path)(value)).toEqual(expected)
      }),
      { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 2000) },
    )
  })
})
