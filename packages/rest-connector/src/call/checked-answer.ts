import { fits, kindOf, type AnswerShape } from '../declare/answer-shape.ts'
import type { CompiledEndpoint } from '../declare/endpoint.ts'
import { restError } from '../errors.ts'
import type { RestResponse } from '../http/attempt.ts'
import { single } from '../http/decode.ts'
import { mediaTypeOf } from '../templates/body-template.ts'

const EXPECTED: Readonly<Record<AnswerShape, string>> = {
  any: 'anything',
  list: 'a list',
  object: 'an object',
  one: 'one value',
}

/** An answer's value, when it is of the shape that its endpoint declares. @throws REST_BAD_RESPONSE */
export function checkedAnswer(
  endpoint: CompiledEndpoint,
  value: unknown,
  { status, headers }: Pick<RestResponse, 'status' | 'headers'>,
): unknown {
  if (fits(endpoint.shape, value)) return value
  const contentType = single(headers['content-type'])
  const mediaType = contentType === undefined ? 'no media type' : mediaTypeOf(contentType).slice(0, 80)
  throw notDeclared(endpoint, value, ` (status ${status}, ${mediaType})`, status)
}

/** {@link checkedAnswer} of what came from a cache, another's call or a transformer. */
export function checkedShape(endpoint: CompiledEndpoint, value: unknown): unknown {
  if (fits(endpoint.shape, value)) return value
  throw notDeclared(endpoint, value, '')
}

function notDeclared(
  { name, returnType, shape }: CompiledEndpoint,
  value: unknown,
  from: string,
  status?: number,
) {
  const cause = new Error(
    `REST endpoint "${name}" is declared as ${returnType.text} and must answer with ${EXPECTED[shape]}, ` +
      `but gave ${kindOf(value)}${from}; check returnType and responsePath.`,
  )
  const message = `The upstream must answer with ${EXPECTED[shape]}, but gave ${kindOf(value)}${from}.`
  return restError('REST_BAD_RESPONSE', message, { cause, status })
}
