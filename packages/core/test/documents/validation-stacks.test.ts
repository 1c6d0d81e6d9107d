import { buildSchema, parse } from 'graphql'
import { expect, it } from 'vitest'
import { validateInOneWalk } from '../../src/documents/index.ts'

const schema = buildSchema('type Query { a: Int }')

it('validation errors have no stack frames', () => {
  const { stackTraceLimit } = Error
  const [error] = validateInOneWalk(schema, parse('{ wrong }'))
  expect(error?.stack?.split('\n')).toEqual(['GraphQLError: Cannot query field "wrong" on type "Query".'])
  expect(Error.stackTraceLimit).toBe(stackTraceLimit)
})

it('errors that a rule throws have stack frames', () => {
  const { stackTraceLimit } = Error
  const validate = (): unknown =>
    validateInOneWalk(schema, parse('{ a }'), [
      () => {
        throw new Error('of a rule')
      },
    ])
  expect(validate).toThrow(expect.objectContaining({ stack: expect.stringContaining('    at ') as string }))
  expect(Error.stackTraceLimit).toBe(stackTraceLimit)
})
