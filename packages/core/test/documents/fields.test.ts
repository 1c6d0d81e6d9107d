import { buildSchema, getOperationAST, Kind, parse, type GraphQLObjectType } from 'graphql'
import { describe, expect, it } from 'vitest'
import {
  collectFields,
  foldSelections,
  forEachField,
  fragmentsOf,
  isIncluded,
  possibleObjects,
  type FieldWalk,
} from '../../src/documents/index.ts'

const schema = buildSchema(`
  interface Named { name: String }
  type Person implements Named { name: String, age: Int, friend: Named }
  type Place implements Named { name: String, area: Int }
  union Thing = Person | Place
  type Query { person: Person, named: Named, thing: Thing }
`)
const person = schema.getType('Person') as GraphQLObjectType

function keysOf(text: string, walk: Partial<FieldWalk> = {}): string[] {
  const document = parse(text)
  const operation = getOperationAST(document)
  const sets = operation ? [operation.selectionSet] : []
  return [...collectFields({ fragments: fragmentsOf(document), ...walk }, sets).keys()]
}

/** Each fragment spreads the next fragment several times. A walk without a limit would not end. */
function chain(length: number, of: (next: string) => string, last: string): string {
  const links = Array.from({ length }, (_, at) => `fragment F${at} on Person { ${of(`...F${at + 1}`)} }`)
  return `${links.join(' ')} fragment F${length} on Person { ${last} }`
}

describe('collectFields and forEachField', () => {
  it('expand fragments on an object type, its interfaces and its unions', () => {
    const text =
      '{ ... { a } ... on Person { b } ... on Place { c } ... on Named { d } ... on Thing { e ...F } ...None } fragment F on Place { f }'
    expect(keysOf(text, { schema, type: person })).toEqual(['a', 'b', 'd', 'e'])
    expect(keysOf(text)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  })

  it('pass the innermost type condition', () => {
    const document = parse('{ a ... on Named { b ... { c ...F } } } fragment F on Person { d }')
    const found: string[] = []
    const sets = [getOperationAST(document)!.selectionSet]
    forEachField({ fragments: fragmentsOf(document) }, sets, (node, on) => {
      found.push(`${on} ${node.name.value}`)
    })
    expect(found).toEqual(['undefined a', 'Named b', 'Named c', 'Person d'])
  })

  it.each([
    [{}, ['a', 'c', 'd', 'f']],
    [{ yes: true, no: false }, ['a', 'c', 'd', 'f']],
    [{ yes: false, no: true }, ['f']],
    [{ yes: null, no: 'true' }, ['a', 'c', 'd', 'f']],
  ])('apply @skip and @include with variables %j: %j', (variables, expected) => {
    const text = `{
      a @include(if: $yes) b @include(if: false) c: x @skip(if: $no)
      ... @include(if: $yes) { d } ...F @skip(if: true) ...G
    } fragment F on Query { e } fragment G on Query { f }`
    expect(keysOf(text, { includes: (node) => isIncluded(node, variables) })).toEqual(expected)
  })

  it('skip spreads that are not entered', () => {
    const seen: string[] = []
    const enters: FieldWalk['enters'] = (use) => {
      if (use.kind === Kind.FRAGMENT_SPREAD) seen.push(use.name.value)
      return !use.directives?.length
    }
    expect(keysOf('{ a ...F @later ...F ...F } fragment F on Query { b }', { enters })).toEqual(['a', 'b'])
    expect(seen).toEqual(['F', 'F', 'F'])
  })

  it('take a number of steps that is linear in the length of the document', () => {
    let steps = 0
    const includes = (): boolean => ++steps > 0
    const text = `{ ...F0 } ${chain(1000, (next) => `${next} ${next} ${next}`, 'a ...F0 ...F500')}`
    expect(keysOf(text, { includes })).toEqual(['a'])
    expect(steps).toBe(3004)
  })
})

describe('foldSelections', () => {
  const weigh = (text: string): { fields: number; calls: number } => {
    const document = parse(text)
    let calls = 0
    const fold = foldSelections(fragmentsOf(document), 0, ({ selections }, below): number => {
      calls++
      return selections.reduce((sum, one) => sum + (one.kind === Kind.FIELD ? 1 : 0) + below(one), 0)
    })
    return { fields: fold(getOperationAST(document)!.selectionSet), calls }
  }

  it('computes a fragment once and uses its value at each spread', () => {
    const text = `{ ...F0 ...None } ${chain(40, (next) => `friend { ${next} } ${next}`, 'name')}`
    expect(weigh(text)).toEqual({ fields: 2 ** 40 * 2 - 1, calls: 82 })
  })

  it('ends at recursive fragments', () => {
    expect(weigh('{ ...A } fragment A on Query { a { ...B } } fragment B on Query { b ...A }').fields).toBe(2)
  })

  it('passes the value `around`', () => {
    const document = parse('{ a { b ... { c } } }')
    const found: string[] = []
    const fold = foldSelections<number, string>(fragmentsOf(document), 0, ({ selections }, below, around) => {
      for (const one of selections) {
        if (one.kind === Kind.FIELD) found.push(`${around}.${one.name.value}`)
        below(one, one.kind === Kind.FIELD ? one.name.value : around)
      }
      return 1
    })
    fold(getOperationAST(document)!.selectionSet, 'Query')
    expect(found).toEqual(['Query.a', 'a.b', 'a.c'])
  })
})

it.each([
  ['Person', ['Person']],
  ['Named', ['Person', 'Place']],
  ['Thing', ['Person', 'Place']],
  ['Int', []],
  ['None', []],
])('possibleObjects of %s are %j', (name, expected) => {
  expect(possibleObjects(schema, schema.getType(name)).map((type) => type.name)).toEqual(expected)
})
