import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { AcceptChoice } from '../fast-path/accept-choice.ts'
import type { SizeLimit } from '../fast-path/body-choices.ts'
import { createChoices } from '../http/remembered-choices.ts'
import type { ShortWayPart } from './part.ts'

/** Says whether the head of a request allows the short way. */
export type IsShortRequest = (request: IncomingMessage) => boolean

export interface ShortRequestOptions {
  /** Path of the GraphQL endpoint. */
  readonly endpoint: string
  readonly maxBodyBytes: number | undefined
  readonly sizeLimit: SizeLimit | undefined
  readonly mediaTypeOf: MediaTypeOf
  readonly hasCors: boolean
  readonly parts: readonly ShortWayPart[]
}

/** Larger bodies are not what this is for. */
const MAX_BODY_BYTES = 65_536
const JSON_TYPES =
  /^(?:application\/(?:graphql-response\+)?json(?:;[^,]*)?|\*\/\*)(?:, ?application\/(?:graphql-response\+)?json(?:;[^,]*)?)*$/

/** How the answer is marked for an `Accept` header; undefined: not on the short way. */
export type MediaTypeOf = (accept: string) => string | undefined

/** As Yoga chooses where JSON alone is named, and else as one of the plugins says; pages are none of either. */
export function shortMediaTypes(choice: AcceptChoice, parts: readonly ShortWayPart[]): MediaTypeOf {
  return createChoices((accept) => {
    if (accept === '' || JSON_TYPES.test(accept)) return choice.mediaTypeOf(accept)
    if (accept.includes('text/html')) return undefined
    for (const part of parts) {
      const mediaType = part.mediaTypeOf?.(accept)
      if (mediaType !== undefined) return mediaType
    }
    return undefined
  })
}

/**
 * Of requests that may take the fast path: those to the endpoint itself, with a small JSON body or, of a GET, none, and no
 * other wish.
 */
export function shortRequests(options: ShortRequestOptions): IsShortRequest {
  const { endpoint, maxBodyBytes = MAX_BODY_BYTES, sizeLimit, mediaTypeOf, hasCors, parts } = options
  const targets = `${endpoint}?`
  const most = Math.min(maxBodyBytes, MAX_BODY_BYTES)
  const isBody = createChoices((type) => /^application\/json(?:; ?charset=utf-8)?$/i.test(type))
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

  function hasShortBody(headers: IncomingHttpHeaders): boolean {
    if (!isSmall(headers['content-length']) || headers['transfer-encoding'] !== undefined) return false
    return headers['content-encoding'] === undefined && isBody(headers['content-type'] ?? '') === true
  }

  return (request) => {
    const { method, url, headers } = request
    if (method === 'GET' ? !url?.startsWith(targets) : url !== endpoint || !hasShortBody(headers))
      return false
    if ((hasCors && headers.origin !== undefined) || mediaTypeOf(headers.accept ?? '') === undefined)
      return false
    for (const accepts of conditions) if (!accepts(request)) return false
    return true
  }
}
