import { type Clock, createTurns, isAsyncIterable } from '@vinyasa/core'
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
import { acceptedAnswers } from './accepted-answers.ts'
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
 * As Apollo's clients read it (https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol).
 * Clients look for the next delimiter to tell where a part ends, so each part is written with it.
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

/** As graphql-sse reads it; `EventSource.onmessage` hears of no event that has a name. */
function eventsFormat(name: string): StreamFormat {
  const end = 'event: complete\ndata:\n\n'
  return {
    // Yoga's plugin for compression would keep back what it compresses.
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

/** Whether an `EventSource` asks, which takes nothing but an event stream and cannot POST. */
export function isEventSource({ method, headers }: Request): boolean {
  return method === 'GET' && headers.get('accept')?.trim().toLowerCase() === 'text/event-stream'
}

/** Whether the stream of a result is a live query's or a subscription's, and which of them. */
export type StreamKind = 'live' | 'subscription' | undefined

/**
 * Chooses the format of a result. Live queries and subscriptions have these formats only. A result that is no stream is one
 * part for clients that accept no JSON.
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

/** Sets how a result is written that is a live query's or a subscription's, or that is to be a part. */
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

/** Says what could be read, to a client that reads no stream, and ends the stream. */
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
