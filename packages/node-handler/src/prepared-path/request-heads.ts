import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Behaviour } from '@vinyasa/core/pipeline'
import type { AcceptChoice } from '../hooks/accept-choice.ts'
import type { SizeLimit } from '../hooks/body-choices.ts'
import { createChoices } from '../http/remembered-choices.ts'

interface RequestHeadOptions {
  /** Path of the GraphQL endpoint. */
  readonly endpoint: string
  readonly maxBodyBytes: number | undefined
  readonly sizeLimit: SizeLimit | undefined
  readonly mediaTypeOf: MediaTypeOf
  readonly behaviours: readonly Behaviour[]
}

/** Larger bodies are not what this is for. */
const MAX_BODY_BYTES = 65_536
const JSON_TYPES =
  /^(?:application\/(?:graphql-response\+)?json(?:;[^,]*)?|\*\/\*)(?:, ?application\/(?:graphql-response\+)?json(?:;[^,]*)?)*$/

/** How the answer is marked for an `Accept` header; undefined: not on the prepared path. */
type MediaTypeOf = (accept: string) => string | undefined

/** Chooses like Yoga where JSON alone is named, else like one of the plugins; pages are none of either. */
export function mediaTypesOf(choice: AcceptChoice, behaviours: readonly Behaviour[]): MediaTypeOf {
  return createChoices((accept) => {
    if (accept === '' || JSON_TYPES.test(accept)) return choice.mediaTypeOf(accept)
    if (accept.includes('text/html')) return undefined
    for (const behaviour of behaviours) {
      const mediaType = behaviour.mediaTypeOf?.(accept)
      if (mediaType !== undefined) return mediaType
    }
    return undefined
  })
}

/**
 * Allows the prepared path to requests to the endpoint itself, with a small JSON body or, of a GET, none, and
 * no other wish.
 */
export function requestHeads(options: RequestHeadOptions): (request: IncomingMessage) => boolean {
  const { endpoint, maxBodyBytes = MAX_BODY_BYTES, sizeLimit, mediaTypeOf, behaviours } = options
  const targets = `${endpoint}?`
  const most = Math.min(maxBodyBytes, MAX_BODY_BYTES)
  const isBody = createChoices((type) => /^application\/json(?:; ?charset=utf-8)?$/i.test(type))
  const conditions = behaviours.flatMap(({ accepts }) => accepts ?? [])

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

  function hasSmallBody(headers: IncomingHttpHeaders): boolean {
    if (!isSmall(headers['content-length']) || headers['transfer-encoding'] !== undefined) return false
    return headers['content-encoding'] === undefined && isBody(headers['content-type'] ?? '') === true
  }

  return (request) => {
    const { method, url, headers } = request
    const isTarget = url?.startsWith(targets) === true
    if (method === 'GET' ? !isTarget : (url !== endpoint && !isTarget) || !hasSmallBody(headers)) return false
    if (mediaTypeOf(headers.accept ?? '') === undefined) return false
    for (const accepts of conditions) if (!accepts(request)) return false
    return true
  }
}
