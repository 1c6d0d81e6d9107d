import { type Clock, createTurns, isAsyncIterable, type JsonText } from '@vinyasa/core'
import type { ExecutionResult } from 'graphql'
import type { FetchAPI, Plugin } from 'graphql-yoga'
import { isServerStop, streamNotAcceptable } from '../errors.ts'
import { acceptedAnswers } from './accepted-answers.ts'
import { writeResult } from '../store/version.ts'

type ResultPayload = Parameters<NonNullable<Plugin['onResultProcess']>>[0]
type Results = AsyncIterable<ExecutionResult> | Iterable<ExecutionResult>
type Controller = ReadableStreamDefaultController<Uint8Array>

const BOUNDARY = 'graphql'
const DELIMITER = `\r\n--${BOUNDARY}`
const PART = '\r\nContent-Type: application/json\r\n\r\n'
const STREAMS = 'text/event-stream, multipart/mixed;subscriptionSpec=1.0'
const HEARTBEAT_MS = 5_000
const UNEXPECTED = '{"errors":[{"message":"Unexpected error."}]}'

/** What is written around the results of a stream. */
interface Format {
  readonly headers: Readonly<Record<string, string>>
  readonly open: string
  readonly before: string
  readonly after: string
  readonly beat: string
  /** The results cannot go on. */
  readonly failed: string
  readonly end: string
}

const KEPT_BY_NOBODY = { 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no', Vary: 'Accept' }

/**
 * As Apollo's clients read it (https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol).
 * Clients look for the next delimiter to tell where a part ends, so each part is written with it.
 */
const MULTIPART: Format = {
  headers: {
    'Content-Type': `multipart/mixed;boundary="${BOUNDARY}";subscriptionSpec=1.0`,
    ...KEPT_BY_NOBODY,
  },
  open: DELIMITER,
  before: `${PART}{"payload":`,
  after: `}${DELIMITER}`,
  beat: `${PART}{}${DELIMITER}`,
  failed: `${PART}{"payload":null,${UNEXPECTED.slice(1)}${DELIMITER}`,
  end: '--\r\n',
}

/** As graphql-sse reads it; `EventSource.onmessage` hears of no event that has a name. */
function eventsFormat(name: string): Format {
  return {
    // Yoga's plugin for compression would keep back what it compresses.
    headers: { 'Content-Type': 'text/event-stream', 'Content-Encoding': 'none', ...KEPT_BY_NOBODY },
    open: ':\n\n',
    before: `${name}data: `,
    after: '\n\n',
    beat: ':\n\n',
    failed: `${name}data: ${UNEXPECTED}\n\n`,
    end: 'event: complete\ndata:\n\n',
  }
}

const NAMED = eventsFormat('event: next\n')
const NAMELESS = eventsFormat('')

const encoder = new TextEncoder()
const slices = createTurns()

/** Whether an `EventSource` asks, which takes nothing but an event stream and cannot POST. */
export function isEventSource({ method, headers }: Request): boolean {
  return method === 'GET' && headers.get('accept')?.trim().toLowerCase() === 'text/event-stream'
}

/**
 * Chooses the format of a result: always for a live query, which has these two alone; for others if they are to be multipart, or
 * events without names. What is no stream is one part to whoever takes no JSON.
 */
function formatOf({ request, result, resultProcessor }: ResultPayload, isLive: boolean, eventNames: boolean) {
  const { whole, events, multipart } = acceptedAnswers(request.headers.get('accept'))
  const isPart = isAsyncIterable(result) || (whole === 0 && !isServerStop(result))
  if (multipart > events && isPart) return MULTIPART
  if (!eventNames && resultProcessor && isEventSource(request)) return NAMELESS
  return isLive ? NAMED : undefined
}

/** Sets how a result is written that is a live query's, or a stream that Yoga does not write as it is to be. */
export function processStream(
  payload: ResultPayload,
  options: { readonly isLive: boolean; readonly eventNames: boolean; readonly clock: Clock },
): void {
  const { result, resultProcessor, setResultProcessor } = payload
  const format = formatOf(payload, options.isLive, options.eventNames)
  if (format) setResultProcessor(processorOf(format, options.clock), format.headers['Content-Type'] as string)
  else if (!resultProcessor && isAsyncIterable(result)) setResultProcessor(refuseStream, 'application/json')
}

function processorOf(format: Format, clock: Clock) {
  return (result: unknown, { Response, ReadableStream }: FetchAPI): Response => {
    const results = isAsyncIterable(result) ? result : [result]
    const stream = new ReadableStream(partsOf(results as Results, format, clock))
    return new Response(stream, { headers: format.headers })
  }
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

function partsOf(results: Results, format: Format, clock: Clock): UnderlyingDefaultSource<Uint8Array> {
  const iterator =
    Symbol.asyncIterator in results ? results[Symbol.asyncIterator]() : results[Symbol.iterator]()
  let heartbeat: unknown
  let isOver = false

  function beat(controller: Controller): void {
    heartbeat = clock.setTimeout(() => {
      // A client that does not read what it was sent needs no more of it.
      if ((controller.desiredSize ?? 0) > 0) write(controller, format.beat)
      beat(controller)
    }, HEARTBEAT_MS)
  }

  function end(controller: Controller): void {
    leave()
    write(controller, format.end)
    controller.close()
  }

  function leave(): void {
    isOver = true
    clock.clearTimeout(heartbeat)
  }

  return {
    start(controller) {
      write(controller, format.open)
      beat(controller)
    },
    async pull(controller) {
      try {
        const { done, value } = await iterator.next()
        const json = done ? '' : await writeResult(value, slices)
        if (isOver) return
        if (done) return end(controller)
        write(controller, format.before, json, format.after)
      } catch {
        if (isOver) return
        write(controller, format.failed)
        end(controller)
      }
    },
    async cancel() {
      leave()
      await iterator.return?.()
    },
  }
}

function write(controller: Controller, before: string, json: JsonText = '', after = ''): void {
  if (typeof json === 'string') return controller.enqueue(encoder.encode(`${before}${json}${after}`))
  controller.enqueue(encoder.encode(before))
  controller.enqueue(json)
  controller.enqueue(encoder.encode(after))
}
