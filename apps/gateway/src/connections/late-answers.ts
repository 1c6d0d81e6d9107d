import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from '../logging/logger.ts'
import { lookEvery } from '../http/deadlines.ts'
import { closeOnceSent } from './linger.ts'

/** A request that is being answered. */
export interface Waiting {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** For how long it has been whole, and its answer has not begun, as far as anybody has looked. */
  waitedMs: number
}

export interface LateAnswersOptions {
  /** How long the answer to a whole request may take to begin. 0: any time. */
  readonly answerTimeoutMs: number
  readonly inFlight: Iterable<Waiting>
  /** Called for each request that is ended with 504. */
  readonly onEnd?: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
  readonly logger?: Logger | undefined
}

/**
 * Ends requests whose answers do not begin: whatever holds them up, nobody's place is taken for ever. Looks are counted,
 * not time, so that nobody is given up for a pause of this process.
 */
export function endLateAnswers(server: Server, options: LateAnswersOptions): void {
  const { answerTimeoutMs, inFlight, onEnd, logger } = options
  if (answerTimeoutMs === 0) return
  const everyMs = lookEvery(answerTimeoutMs)
  const timer = setInterval(() => {
    const late: Waiting[] = []
    for (const waiting of inFlight) {
      // Until the request is whole, its own deadline counts.
      if (waiting.response.headersSent || !waiting.request.complete) continue
      waiting.waitedMs += everyMs
      if (waiting.waitedMs >= answerTimeoutMs) late.push(waiting)
    }
    if (late.length === 0) return
    // The answer whose turn it is comes before the others of its connection.
    for (const { request, response } of late.toSorted((a, b) => behind(a) - behind(b))) {
      if (isNext(request.socket, response)) onEnd?.(request, response)
      endLate(request, response, answerTimeoutMs)
    }
    logger?.warn(
      { ended: late.length, answerTimeoutMs },
      'requests were ended because their responses did not start within server.answerTimeoutMs',
    )
  }, everyMs).unref()
  server.once('close', () => clearInterval(timer))
}

/** 1 for an answer that waits for another one of its connection. */
const behind = ({ response }: Waiting): number => (response.socket ? 0 : 1)

/** Whether the client gets the answer: it is the turn of this response on the connection. */
const isNext = (socket: Socket, response: ServerResponse): boolean =>
  response.socket === socket && socket.writable

/** The end of the connection cancels what the request began; past the response, which would count as answered. */
function endLate({ socket }: IncomingMessage, response: ServerResponse, answerTimeoutMs: number): void {
  // Another answer may be before it on the connection, half sent; or the last one has been sent already.
  if (isNext(socket, response)) socket.write(timedOut(answerTimeoutMs))
  // The next look would find it again on a connection that lingers.
  closeOnceSent(socket)
}

function timedOut(answerTimeoutMs: number): string {
  const message = `The response did not start within ${answerTimeoutMs} ms. Before you retry a mutation, check whether it was executed.`
  const body = JSON.stringify({ errors: [{ message, extensions: { code: 'ANSWER_TIMEOUT' } }] })
  return [
    'HTTP/1.1 504 Gateway Timeout',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}
