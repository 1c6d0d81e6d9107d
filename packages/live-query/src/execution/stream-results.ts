import {
  type Clock,
  createTurns,
  isAsyncIterable,
  jsonQuality,
  keyedByHeader,
  type MediaRange,
  parseAccept,
} from '@vinyasa/core'
import {
  createPartStream,
  createStreamResponse,
  type PartStream,
  STREAM_HEADERS,
  type StreamFormat,
} from '@vinyasa/core/pipeline'
import type { ExecutionResult } from 'graphql'
import type { FetchAPI, Plugin } from 'graphql-yoga'
import { isServerStop, streamNotAcceptable } from '../errors.ts'
import { writeResult } from '../store/version.ts'

type ResultPayload = Parameters<NonNullable<Plugin['onResultProcess']>>[0]
type Results = AsyncIterable<ExecutionResult> | Iterable<ExecutionResult>

const DELIMITER = '\r\n--graphql'
const PART = '\r\nContent-Type: application/json\r\n\r\n'
/** Media ranges that include event streams. */
const EVENTS = /text\/(?:event-stream|\*)|\*\/\*/i
const STREAMS = 'text/event-stream, multipart/mixed;subscriptionSpec=1.0'
const UNEXPECTED = '{"errors":[{"message":"Unexpected error."}]}'

/**
 * The format of Apollo's clients
 * (https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol). Clients detect the
 * end of a part by the next delimiter, so each part is written together with it.
 */
const MULTIPART: StreamFormat = {
  headers: { ...STREAM_HEADERS, 'Content-Type': 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0' },
  open: DELIMITER,
  before: `${PART}{"payload":`,
  after: `}${DELIMITER}`,
  last: `}${DELIMITER}--\r\n`,
  heartbeat: `${PART}{}${DELIMITER}`,
  failed: `${PART}{"payload":null,${UNEXPECTED.slice(1)}${DELIMITER}`,
  end: '--\r\n',
}

/** The format of graphql-sse. `EventSource.onmessage` receives only events without a name. */
function eventsFormat(name: string): StreamFormat {
  const end = 'event: complete\ndata:\n\n'
  return {
    // Yoga's compression plugin would buffer the stream.
    headers: { ...STREAM_HEADERS, 'Content-Type': 'text/event-stream', 'Content-Encoding': 'none' },
    open: ':\n\n',
    before: `${name}data: `,
    after: '\n\n',
    last: `\n\n${end}`,
    heartbeat: ':\n\n',
    failed: `${name}data: ${UNEXPECTED}\n\n`,
    end,
  }
}

const NAMED = eventsFormat('event: next\n')
const NAMELESS = eventsFormat('')

const slices = createTurns()

/**
 * Returns whether the request comes from an `EventSource`, which accepts only event streams and sends no `POST`
 * requests.
 */
export function isEventSource({ method, headers }: Request): boolean {
  return method === 'GET' && headers.get('accept')?.trim().toLowerCase() === 'text/event-stream'
}

/** Whether a live query or a subscription produces the stream. */
export type StreamKind = 'live' | 'subscription' | undefined

/**
 * Returns the format of a result. Live queries and subscriptions have only these formats. A complete result is one part
 * for clients that do not accept JSON.
 */
function formatOf(
  { request, result, resultProcessor }: ResultPayload,
  kind: StreamKind,
  eventNames: boolean,
) {
  const accept = request.headers.get('accept')
  const { whole, events, multipart } = acceptedAnswers(accept)
  const isPart = isAsyncIterable(result) || (whole === 0 && !isServerStop(result))
  if (multipart > events && isPart) return MULTIPART
  if (!eventNames && resultProcessor && isEventSource(request)) return NAMELESS
  if (kind === 'subscription') return resultProcessor && EVENTS.test(accept ?? '*/*') ? NAMED : undefined
  return kind && NAMED
}

/** Sets the processor of live queries, of subscriptions, and of complete results that are sent as a part. */
export function processStream(
  payload: ResultPayload,
  options: { readonly kind: StreamKind; readonly eventNames: boolean; readonly clock: Clock },
): void {
  const { result, resultProcessor, setResultProcessor } = payload
  const format = formatOf(payload, options.kind, options.eventNames)
  if (format) {
    setResultProcessor(
      (results, fetchAPI) => createStreamResponse(partsOf(results, format, options.clock), fetchAPI),
      format.headers['Content-Type'],
    )
  } else if (!resultProcessor && isAsyncIterable(result)) setResultProcessor(refuseStream, 'application/json')
}

/** Responds with an error for clients that accept no stream, and ends the stream. */
function refuseStream(results: unknown, { Response }: FetchAPI): Response {
  const left = (results as AsyncIterable<unknown>)[Symbol.asyncIterator]().return?.()
  left?.catch(() => {})
  return new Response(JSON.stringify({ errors: [streamNotAcceptable()] }), {
    status: 406,
    headers: { 'Content-Type': 'application/json; charset=utf-8', Accept: STREAMS },
  })
}

function partsOf(result: unknown, format: StreamFormat, clock: Clock): PartStream {
  const results = (isAsyncIterable(result) ? result : [result]) as Results
  const iterator =
    Symbol.asyncIterator in results ? results[Symbol.asyncIterator]() : results[Symbol.iterator]()
  return createPartStream(
    format,
    {
      async next() {
        const { done, value } = await iterator.next()
        return done ? undefined : { json: await writeResult(value, slices), isLast: false }
      },
      // The client has disconnected, so an error of the source has no recipient.
      leave: () => void Promise.resolve(iterator.return?.()).catch(() => {}),
    },
    clock,
  )
}

/** The quality values of a client for each kind of response. 0 means not accepted. `*` does not request a stream. */
interface AcceptedAnswers {
  /** The quality of JSON. */
  readonly whole: number
  /** The quality of `text/event-stream`. */
  readonly events: number
  /** The quality of `multipart/mixed;subscriptionSpec=1.0`. */
  readonly multipart: number
}

const NO_STREAMS: AcceptedAnswers = { whole: 1, events: 0, multipart: 0 }

export function acceptedAnswers(accept: string | null): AcceptedAnswers {
  return accept === null ? NO_STREAMS : answersOf(accept)
}

const answersOf = keyedByHeader(readAccept)

function readAccept(accept: string): AcceptedAnswers {
  if (!/event-stream|subscriptionSpec/i.test(accept)) return NO_STREAMS
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

/** Returns whether a live query can be streamed: the client must prefer a stream at least as much as JSON. */
export function wantsStream(accept: string | null): boolean {
  const { whole, events, multipart } = acceptedAnswers(accept)
  const most = Math.max(events, multipart)
  return most > 0 && most >= whole
}
