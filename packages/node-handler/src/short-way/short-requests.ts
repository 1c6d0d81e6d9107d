import type { IncomingMessage } from 'node:http'
import type { AcceptChoice } from '../fast-path/accept-choice.ts'
import type { SizeLimit } from '../fast-path/size-limit.ts'
import { createChoices } from '../http/remembered-choices.ts'
import type { ShortWayPart } from './part.ts'

/** Says whether the head of a request allows the short way. */
export type IsShortRequest = (request: IncomingMessage) => boolean

export interface ShortRequestOptions {
  /** Path of the GraphQL endpoint. */
  readonly endpoint: string
  readonly maxBodyBytes: number | undefined
  readonly sizeLimit: SizeLimit | undefined
  readonly choice: AcceptChoice
  readonly hasCors: boolean
  readonly parts: readonly ShortWayPart[]
}

/** Larger bodies are not what this is for. */
const MAX_BODY_BYTES = 65_536
const JSON_TYPES =
  /^(?:application\/(?:graphql-response\+)?json(?:;[^,]*)?|\*\/\*)(?:, ?application\/(?:graphql-response\+)?json(?:;[^,]*)?)*$/

/** Of requests that may take the fast path: those to the endpoint itself, with a small JSON body and no other wish. */
export function shortRequests(options: ShortRequestOptions): IsShortRequest {
  const { endpoint, maxBodyBytes = MAX_BODY_BYTES, sizeLimit, choice, hasCors, parts } = options
  const most = Math.min(maxBodyBytes, MAX_BODY_BYTES)
  const isBody = createChoices((type) => /^application\/json(?:; ?charset=utf-8)?$/i.test(type))
  const isAccepted = createChoices(
    (accept) => (accept === '' || JSON_TYPES.test(accept)) && choice.mediaTypeOf(accept) !== undefined,
  )
  const conditions = parts.flatMap(({ accepts }) => accepts ?? [])

  function isSmall(length: string | undefined): boolean {
    if (length === undefined || !(Number(length) <= most)) return false
    if (!sizeLimit) return true
    try {
      sizeLimit.checkHeader(length)
      return true
    } catch {
      return false
    }
  }

  return (request) => {
    if (request.url !== endpoint) return false
    const { headers } = request
    if (!isSmall(headers['content-length']) || headers['transfer-encoding'] !== undefined) return false
    if (headers['content-encoding'] !== undefined || (hasCors && headers.origin !== undefined)) return false
    if (!isBody(headers['content-type'] ?? '') || !isAccepted(headers.accept ?? '')) return false
    for (const accepts of conditions) if (!accepts(request)) return false
    return true
  }
}
