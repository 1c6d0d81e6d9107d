import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Behaviour } from '@vinyasa/core/pipeline'
import type { AcceptChoice } from '../hooks/accept-choice.ts'
import type { SizeLimit } from '../hooks/body-choices.ts'
import { createChoices } from '../http/remembered-choices.ts'
import { jsonQuality, parseAccept } from '@vinyasa/core'

interface RequestHeadOptions {
  /** Path of the GraphQL endpoint. */
  readonly endpoint: string
  /** Returns the alias of the endpoint that matches a target. */
  readonly aliasOf: (target: string) => unknown
  readonly sizeLimit: SizeLimit | undefined
  readonly mediaTypeOf: MediaTypeOf
  readonly behaviours: readonly Behaviour[]
}

/** Larger bodies do not take the prepared path. */
export const MAX_BODY_BYTES = 65_536
const JSON_TYPES =
  /^(?:application\/(?:graphql-response\+)?json(?:;[^,]*)?|\*\/\*)(?:, ?application\/(?:graphql-response\+)?json(?:;[^,]*)?)*$/

/**
 * Returns the media type for an `Accept` header, or `undefined` if the request does not qualify for the prepared path.
 */
type MediaTypeOf = (accept: string) => string | undefined

/**
 * Chooses the media type as Yoga does if the header lists only JSON. Otherwise the plugins choose first, and Yoga
 * chooses for clients that also accept JSON. Requests for HTML pages do not take the prepared path.
 */
export function mediaTypesOf(choice: AcceptChoice, behaviours: readonly Behaviour[]): MediaTypeOf {
  return createChoices((accept) => {
    if (accept === '' || JSON_TYPES.test(accept)) return choice.mediaTypeOf(accept)
    if (accept.includes('text/html')) return undefined
    for (const behaviour of behaviours) {
      const mediaType = behaviour.mediaTypeOf?.(accept)
      if (mediaType !== undefined) return mediaType
    }
    return jsonQuality(parseAccept(accept)) > 0 ? choice.mediaTypeOf(accept) : undefined
  })
}

/**
 * Returns whether the head of a request allows the prepared path: a `POST` to the endpoint or to an alias of it with a
 * small or chunked JSON body, or a `GET` to the endpoint with a query string.
 */
export function requestHeads(options: RequestHeadOptions): (request: IncomingMessage) => boolean {
  const { endpoint, aliasOf, sizeLimit, mediaTypeOf, behaviours } = options
  const targets = `${endpoint}?`
  const isBody = createChoices((type) => /^application\/json(?:; ?charset=utf-8)?$/i.test(type))
  const conditions = behaviours.flatMap(({ accepts }) => accepts ?? [])

  function isSmall(length: string | undefined): boolean {
    if (length === undefined || !(Number(length) <= MAX_BODY_BYTES)) return false
    if (!sizeLimit) return true
    try {
      sizeLimit.checkHeader(length)
      return true
    } catch {
      return false
    }
  }

  function hasSmallBody(headers: IncomingHttpHeaders): boolean {
    const isChunked = headers['transfer-encoding'] === 'chunked'
    if (isChunked ? headers['content-length'] !== undefined : !isSmall(headers['content-length']))
      return false
    return headers['content-encoding'] === undefined && isBody(headers['content-type'] ?? '') === true
  }

  return (request) => {
    const { method, url, headers } = request
    const isTarget = url?.startsWith(targets) === true
    if (method === 'GET' && !isTarget) return false
    if (method !== 'GET') {
      const isEndpoint = isTarget || url === endpoint || aliasOf(url ?? '') !== undefined
      if (!isEndpoint || !hasSmallBody(headers)) return false
    }
    if (mediaTypeOf(headers.accept ?? '') === undefined) return false
    for (const accepts of conditions) if (!accepts(request)) return false
    return true
  }
}
