import { isRecord } from '@vinyasa/core'
import { fits, kindOf, type AnswerShape } from '../declare/answer-shape.ts'
import type { CompiledEndpoint } from '../declare/endpoint.ts'
import { restError } from '../errors.ts'
import type { RestResponse } from '../http/attempt.ts'
import { single } from '../http/header-values.ts'
import { mediaTypeOf } from '../templates/body-template.ts'

const EXPECTED: Readonly<Record<AnswerShape, string>> = {
  any: 'anything',
  list: 'a list',
  object: 'an object',
  one: 'a single value',
}

/**
 * An answer's value, when it is of the shape that its endpoint declares; one object that has all of `listOfOne` is a list of
 * it. `response`: where it came with one, and not from another's call, a plan or a transformer. @throws REST_BAD_RESPONSE
 */
export function checkedAnswer(
  { name, returnType, shape, listOfOne }: CompiledEndpoint,
  value: unknown,
  response?: Pick<RestResponse, 'status' | 'headers'>,
): unknown {
  if (fits(shape, value)) return value
  if (listOfOne.length > 0 && isRecord(value) && listOfOne.every((member) => Object.hasOwn(value, member)))
    return [value]
  const contentType = single(response?.headers['content-type'])
  const mediaType = contentType === undefined ? 'no Content-Type' : mediaTypeOf(contentType).slice(0, 80)
  const from = response ? ` (status ${response.status}, ${mediaType})` : ''
  const cause = new Error(
    `REST endpoint "${name}" is declared as ${returnType.text} and must return ${EXPECTED[shape]}, ` +
      `but returned ${kindOf(value)}${from}; check returnType${shape === 'list' ? ', listOfOne' : ''} and responsePath.`,
  )
  const message = `The upstream must return ${EXPECTED[shape]}, but returned ${kindOf(value)}${from}.`
  throw restError('REST_BAD_RESPONSE', message, { cause, status: response?.status })
}
