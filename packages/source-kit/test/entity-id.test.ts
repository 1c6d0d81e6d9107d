import { describe, expect, it } from 'vitest'
import { compileEntityId } from '../src/index.ts'

const args = {
  id: '7',
  n: 8,
  flag: true,
  empty: null,
  user: { id: 9n, org: { slug: 'a' } },
  list: [{ id: '1' }],
}
const result = { id: 'r', user: { id: 5 }, list: [{ id: 'l' }], flag: true }
const refuse = (problem: string): Error => new Error(`here: ${problem}`)

describe('the id of the entity that a mutation changed', () => {
  it.each([
    ['{id}', '7'],
    ['{n}', '8'],
    ['{user.id}', '9'],
    ['{user.org.slug}/{id}', 'a/7'],
    ['shop:{id}', 'shop:7'],
    ['$.id', 'r'],
    ['$.user.id', '5'],
    ['$.list[0].id', 'l'],
  ])('%s is %s', (entityId, expected) => {
    expect(compileEntityId(entityId, refuse)(args, result)).toBe(expected)
  })

  it.each([
    '{missing}',
    '{empty}',
    '{flag}',
    '{user}',
    '{list.id}',
    '{user.missing.id}',
    '{constructor.name}',
    '{id}-{missing}',
    '$.missing',
    '$.flag',
    '$.user',
  ])('%s is not known', (entityId) => {
    expect(compileEntityId(entityId, refuse)(args, result)).toBeUndefined()
  })

  it('is not known of a result that nobody has', () => {
    expect(compileEntityId('$.id', refuse)(args, undefined)).toBeUndefined()
  })

  it.each(['id', '', '{user-id}', '{id', '{id}}', '{}', '{.id}', '{user.}'])('%j is refused', (entityId) => {
    expect(() => compileEntityId(entityId, refuse)).toThrow(
      `here: "${entityId}" is not a valid reference to an argument or to the result; write {id} or {user.id} for an argument, or $.id for the result`,
    )
  })

  it('a path that is none is refused with its position', () => {
    expect(() => compileEntityId('$..id', refuse)).toThrow('here: "$..id" has a syntax error at position 1')
  })
})
