import { type Clock, createTurns, isAsyncIterable, type JsonText } from '@vinyasa/base'
import type { ExecutionResult } from 'graphql'
import type { FetchAPI, Plugin } from 'graphql-yoga'
import { streamNotAcceptable } from '../errors.ts'
import { acceptedAnswers } from './accepted-answers.ts'
import { writeResult } from '../store/write-result.ts'

type ResultPayload = Parameters<NonNullable<Plugin['onResultProcess']>>[0]
type Results = AsyncIterable<ExecutionResult> | Iterable<ExecutionResult>
type Controller = ReadableStreamDefaultController<Uint8Array>

const BOUNDARY = 'graphql'
const DELIMITER = `\r\n--${BOUNDARY}`
const STREAMS = 'text/event-stream, multipart/mixed;subscriptionSpec=1.0'
const HEARTBEAT_MS = 5_000
const UNEXPECTED = '{"payload":null,"errors":[{"message":"Unexpected error."}]}'

const encoder = new TextEncoder()
const slices = createTurns()

/**
 * Answers whoever asks for `multipart/mixed;subscriptionSpec=1.0` as Apollo's clients read it
 * (https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol): a part
 * `{ "payload": result }` for each result, `{}` every 5 s, and in the end the closing delimiter. What is no stream
 * is one such part to whoever takes no JSON.
 */
export function takesMultipart({ request, result }: ResultPayload): boolean {
  const { whole, events, multipart } = acceptedAnswers(request.headers.get('accept'))
  return multipart > events && (whole === 0 || isAsyncIterable(result))
}

export function createMultipartProcessor(clock: Clock) {
  return (result: unknown, { Response, ReadableStream }: FetchAPI): Response => {
    const results = isAsyncIterable(result) ? result : [result]
    const parts = new ReadableStream(partsOf(results as Results, clock))
    return new Response(parts, {
      headers: {
        'Content-Type': `multipart/mixed;boundary="${BOUNDARY}";subscriptionSpec=1.0`,
        'Cache-Control': 'no-cache',
        'X-Accel-Buffering': 'no',
        Vary: 'Accept',
      },
    })
  }
}

/** Says what could be read, to a client that reads no stream, and ends the stream. */
export function refuseStream(results: unknown, { Response }: FetchAPI): Response {
  const left = (results as AsyncIterable<unknown>)[Symbol.asyncIterator]().return?.()
  left?.catch(() => {})
  return new Response(JSON.stringify({ errors: [streamNotAcceptable()] }), {
    status: 406,
    headers: { 'Content-Type': 'application/json; charset=utf-8', Accept: STREAMS },
  })
}

/** Clients look for the next delimiter to tell where a part ends, so each part is written with it. */
function partsOf(results: Results, clock: Clock): UnderlyingDefaultSource<Uint8Array> {
  const iterator =
    Symbol.asyncIterator in results ? results[Symbol.asyncIterator]() : results[Symbol.iterator]()
  let heartbeat: unknown
  let isOver = false

  function beat(controller: Controller): void {
    heartbeat = clock.setTimeout(() => {
      // A client that does not read what it was sent needs no more of it.
      if ((controller.desiredSize ?? 0) > 0) sendPart(controller, '{}')
      beat(controller)
    }, HEARTBEAT_MS)
  }

  function end(controller: Controller): void {
    leave()
    controller.enqueue(encoder.encode('--\r\n'))
    controller.close()
  }

  function leave(): void {
    isOver = true
    clock.clearTimeout(heartbeat)
  }

  return {
    start(controller) {
      controller.enqueue(encoder.encode(DELIMITER))
      beat(controller)
    },
    async pull(controller) {
      try {
        const { done, value } = await iterator.next()
        const json = done ? '' : await writeResult(value, slices)
        if (isOver) return
        if (done) return end(controller)
        sendPart(controller, json, '{"payload":', '}')
      } catch {
        if (isOver) return
        sendPart(controller, UNEXPECTED)
        end(controller)
      }
    },
    async cancel() {
      leave()
      await iterator.return?.()
    },
  }
}

function sendPart(controller: Controller, json: JsonText, before = '', after = ''): void {
  const head = `\r\nContent-Type: application/json\r\n\r\n${before}`
  const tail = `${after}${DELIMITER}`
  if (typeof json === 'string') return controller.enqueue(encoder.encode(`${head}${json}${tail}`))
  controller.enqueue(encoder.encode(head))
  controller.enqueue(json)
  controller.enqueue(encoder.encode(tail))
}
