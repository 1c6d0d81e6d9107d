import { isOfConnection } from '@vinyasa/source-kit'
import { optionError } from '../errors.ts'
import type { ObservedReply } from '../runtime/call.ts'
import type { CallSite } from './call-site.ts'
import { requestOf } from './operation.ts'

/** Metadata of replies on its way to the clients whose requests the calls were made for. */
export interface ReplyHeaders {
  /** Keeps the chosen ones for the answer to the call's own request. */
  keep(reply: ObservedReply, site: CallSite): void
  /**
   * Adds to an answer what the calls of its request brought, and nothing that any other's did: an answer from a cache,
   * or of a call that another request began, has none. No cache on the way may keep it then.
   */
  addTo(response: AnswerHead, request: object): void
}

/** The part of a response that is written to. */
export interface AnswerHead {
  readonly headers: Pick<Headers, 'append' | 'delete' | 'set'>
}

/** @throws GrpcSourceError for names that belong to the connection or the body */
export function createReplyHeaders(names: readonly string[]): ReplyHeaders {
  for (const [index, name] of names.entries()) {
    if (!isOfConnection(name.toLowerCase()) && /^[\w.!#$%&'*+^`|~-]+$/.test(name)) continue
    const message = `responseHeaders: "${name}" cannot be forwarded, because it is not a valid header name, or HTTP or gRPC controls this header; remove it from responseHeaders`
    throw optionError(['responseHeaders', index], message)
  }
  const chosen = new Set(names.map((name) => name.toLowerCase()))
  const byRequest = new WeakMap<object, Map<string, Set<string>>>()

  return {
    keep({ headers, trailers, context }, { info }) {
      const request = requestOf(context)
      // The answer to a subscription has begun before its calls end.
      if (!request || info?.operation.operation === 'subscription') return
      for (const [name, value] of [...headers, ...trailers]) {
        if (!chosen.has(name)) continue
        let kept = byRequest.get(request)
        if (!kept) byRequest.set(request, (kept = new Map()))
        const values = kept.get(name) ?? new Set()
        kept.set(name, values.add(typeof value === 'string' ? value : Buffer.from(value).toString('base64')))
      }
    },
    addTo(response, request) {
      const kept = byRequest.get(request)
      if (!kept) return
      byRequest.delete(request)
      const { headers } = response
      headers.delete('etag')
      headers.set('cache-control', 'private, no-store')
      for (const [name, values] of kept) for (const value of values) headers.append(name, value)
    },
  }
}
