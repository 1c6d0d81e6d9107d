import { clientOf, jsonQuality, type MediaRange, parseAccept } from '@vinyasa/base'
import type { Plugin } from 'graphql-yoga'
import type { AskedOperation, OperationParams } from './execution/passes.ts'

/** How gladly a client takes each kind of answer; 0: not at all. `*` is no wish for a stream. */
export interface AcceptedAnswers {
  /** JSON. */
  readonly whole: number
  /** `text/event-stream`. */
  readonly events: number
  /** `multipart/mixed;subscriptionSpec=1.0`. */
  readonly multipart: number
}

const NO_STREAMS: AcceptedAnswers = { whole: 1, events: 0, multipart: 0 }

export function acceptedAnswers(accept: string | null): AcceptedAnswers {
  if (accept === null || !/event-stream|subscriptionSpec/i.test(accept)) return NO_STREAMS
  const accepted = parseAccept(accept)
  const qualityOf = (wanted: (range: MediaRange) => boolean): number => accepted.find(wanted)?.quality ?? 0
  return {
    whole: jsonQuality(accepted),
    events: qualityOf(({ type }) => type === 'text/event-stream'),
    multipart: qualityOf(
      ({ type, parameters }) => type === 'multipart/mixed' && parameters.get('subscriptionspec') === '1.0',
    ),
  }
}

/** Live queries stream over HTTP only to a client that takes a stream no less gladly than a whole answer. */
export function wantsStream(accept: string | null): boolean {
  const { whole, events, multipart } = acceptedAnswers(accept)
  const most = Math.max(events, multipart)
  return most > 0 && most >= whole
}

/** On Node: nginx would keep back what comes of a stream until it has some kilobytes. */
export function sendAsItComes(context: object): void {
  const { res } = context as { readonly res?: { setHeader?(name: string, value: string): unknown } }
  res?.setHeader?.('X-Accel-Buffering', 'no')
}

/** Headers of the body that came, which is not the body of later requests. */
const OF_THE_BODY = ['content-encoding', 'transfer-encoding']

export interface EventStreams extends Required<Pick<Plugin, 'onRequest' | 'onRequestParse'>> {
  /** The operation of a context whose client asked for a stream. */
  of(context: object): AskedOperation | undefined
}

interface Asking {
  readonly request: Request
  readonly context: Readonly<Record<string, unknown>>
  params: OperationParams | undefined
}

/** Keeps what was asked over HTTP as it was before hooks made something of it: each run passes them again. */
export function createEventStreams(): EventStreams {
  const askings = new WeakMap<object, Asking>()
  return {
    onRequest({ request, serverContext }) {
      if (!serverContext || !wantsStream(request.headers.get('accept'))) return
      askings.set(serverContext, { request, context: { ...serverContext }, params: undefined })
    },
    onRequestParse({ serverContext }) {
      const asking = askings.get(serverContext)
      if (!asking) return undefined
      return {
        onRequestParseDone({ requestParserResult }) {
          if (!Array.isArray(requestParserResult)) asking.params = requestParserResult as OperationParams
        },
      }
    },
    of(context) {
      const { request, context: before = {}, params } = askings.get(context) ?? {}
      if (!request || !params) return undefined
      const headers = new Headers(Object.fromEntries(request.headers))
      for (const name of OF_THE_BODY) headers.delete(name)
      return { url: request.url, headers, client: clientOf(before), params, context: () => before }
    },
  }
}
