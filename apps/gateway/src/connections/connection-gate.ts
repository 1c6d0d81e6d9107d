import { clientOf, createAttachment, type Holding, keyed, processLedger, systemClock } from '@vinyasa/core'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FairTurns, Turns } from '@vinyasa/live-query/ws'
import type { Waiting } from './late-answers.ts'

export interface ConnectionGateOptions {
  /** Requests of one connection that may be without an answer; behind them its socket is not read. 0: any number. */
  readonly maxUnanswered: number
  /** Requests of all connections that may be without the head of an answer; one more is answered with 503. 0: any number. */
  readonly maxInFlight: number
  /** The part of them that one address may have. */
  readonly addressShare: number
  /** Requests of one address count together; empty: alone. Asked only when so many are in flight that it matters. */
  readonly addressOf: (request: IncomingMessage) => string
  readonly turns: FairTurns
  /** Requests that are never refused. */
  readonly isProbe: (url: string | undefined) => boolean
  /** Answers a request. `end` of what it gives is called when the response has closed. */
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Served
  /** Called for each request that is refused. */
  readonly onRefused?:
    | ((request: IncomingMessage, response: ServerResponse, refusal: Refusal) => void)
    | undefined
}

export interface Served {
  end(request: IncomingMessage, response: ServerResponse): void
}

/** Why a request is refused before it is served. */
export interface Refusal {
  readonly status: number
  readonly code: 'OVERLOADED' | 'TOO_MANY_AT_ONCE'
  readonly message: string
}

export interface ConnectionGate {
  /**
   * Call for each request: it is served at once, or in its turn when others of its connection came before it, or never
   * when its client has gone by then.
   */
  admit(request: IncomingMessage, response: ServerResponse): void
  /** All that have started and have no head of an answer, and perhaps others. */
  readonly inFlight: Iterable<Waiting>
  /** Gives when the last answer of a connection ended, or it was opened; undefined while it has a request. */
  idleSince(socket: Socket, openedAt: number): number | undefined
  /** Counts in the ledger what waits to be sent on a connection. */
  countUnsent(socket: Socket): void
  /** Whether a connection has requests without an answer, all of which are there whole. */
  isWhole(socket: Socket): boolean
}

interface Admitted extends Waiting {
  /** Its client's, once anybody has asked. */
  address: string | undefined
  /** Where it stands among those in flight; less than 0: it is not there. */
  place: number
  /** Undefined until it is served. */
  served: Served | undefined
}

/** Memory of a request that waits. One read of a socket can bring two thousand of them before it is paused. */
const HELD_BYTES = 4_096

const OVERLOADED: Refusal = {
  status: 503,
  code: 'OVERLOADED',
  message: 'The server is overloaded; try again in a moment.',
}
const TOO_MANY: Refusal = {
  status: 429,
  code: 'TOO_MANY_AT_ONCE',
  message: 'Too many concurrent requests from this address; try again in a moment.',
}

/**
 * Bounds what a connection, and all of them, can make the server do at once. Node parses and hands out requests that are
 * sent one behind the other as fast as they come; here they start a few at a time, so that other connections have their
 * turns, and no more are read than may wait.
 */
export function createConnectionGate(options: ConnectionGateOptions): ConnectionGate {
  const all = new AllConnections(options)
  const connections = createAttachment<Connection>()
  const connectionOf = keyed((socket: Socket) => new Connection(socket, all, options), connections)
  return {
    inFlight: all.inFlight,
    admit: (request, response) => connectionOf(request.socket).admit(request, response),
    idleSince: (socket, openedAt) => {
      const connection = connections.get(socket)
      return connection ? connection.idleSince(openedAt) : openedAt
    },
    countUnsent: (socket) => connections.get(socket)?.countUnsent(),
    isWhole: (socket) => connections.get(socket)?.isWhole() ?? false,
  }
}

class AllConnections {
  /** Started and, as far as anybody has looked, without the head of an answer; in no order. */
  readonly inFlight: Admitted[] = []
  readonly #options: ConnectionGateOptions
  readonly maxInFlight: number
  readonly #ofOneAddress: number

  constructor(options: ConnectionGateOptions) {
    this.#options = options
    this.maxInFlight = options.maxInFlight || Number.POSITIVE_INFINITY
    this.#ofOneAddress = this.maxInFlight * options.addressShare
  }

  start(given: Admitted): void {
    // A monitor of the process must not take a busy one for a dead one.
    const refusal = this.#options.isProbe(given.request.url) ? undefined : this.#refusalOf(given)
    if (refusal) {
      this.#options.onRefused?.(given.request, given.response, refusal)
      return refuse(given.response, refusal)
    }
    given.place = this.inFlight.push(given) - 1
    given.served = this.#options.serve(given.request, given.response)
  }

  /** Takes it out; the last one takes its place. */
  leave(given: Admitted): void {
    if (given.place < 0) return
    const last = this.inFlight.pop() as Admitted
    if (last !== given) {
      this.inFlight[given.place] = last
      last.place = given.place
    }
    given.place = -1
  }

  #refusalOf(given: Admitted): Refusal | undefined {
    if (processLedger().isFull) return OVERLOADED
    if (this.inFlight.length < this.#ofOneAddress) return undefined
    if (this.#isFull()) return OVERLOADED
    const address = this.#ownerOf(given)
    if (address === '' || this.inFlight.length < this.#ofOneAddress) return undefined
    let others = 0
    for (const one of this.inFlight) if (!one.response.headersSent && this.#ownerOf(one) === address) others++
    return others >= this.#ofOneAddress ? TOO_MANY : undefined
  }

  #ownerOf(given: Admitted): string {
    return (given.address ??= this.#options.addressOf(given.request))
  }

  /** A request whose answer has started, as event streams have, is not in flight any more. */
  #isFull(): boolean {
    if (this.inFlight.length < this.maxInFlight) return false
    for (const given of this.inFlight.filter(({ response }) => response.headersSent)) this.leave(given)
    return this.inFlight.length >= this.maxInFlight
  }
}

class Connection {
  readonly #socket: Socket
  readonly #all: AllConnections
  readonly #maxUnanswered: number
  readonly #turns: Turns
  /** Responses in the order of the requests, which is theirs; those of requests that wait are among them. */
  readonly #unanswered: ServerResponse[] = []
  readonly #held: Admitted[] = []
  #unsent = 0
  #memory: Holding | undefined
  #started = 0
  #isPaused = false
  #answeredAt: number | undefined

  constructor(socket: Socket, all: AllConnections, options: ConnectionGateOptions) {
    this.#socket = socket
    this.#all = all
    this.#maxUnanswered = options.maxUnanswered || Number.POSITIVE_INFINITY
    this.#turns = options.turns.open(socket)
    // Reading the body of a request resumes the socket.
    socket.on('resume', () => {
      if (this.#isPaused) socket.pause()
    })
    // Node makes an error for each request without a response when a connection closes. Their stack traces would be most
    // of what thousands of pipelined requests cost.
    let { stackTraceLimit } = Error
    socket.prependOnceListener('close', () => {
      ;({ stackTraceLimit } = Error)
      Error.stackTraceLimit = 0
    })
    socket.once('close', () => {
      Error.stackTraceLimit = stackTraceLimit
      this.#close()
    })
  }

  admit(request: IncomingMessage, response: ServerResponse): void {
    const { length } = this.#unanswered
    const given: Admitted = {
      request,
      response,
      waitedMs: 0,
      address: undefined,
      place: -1,
      served: undefined,
    }
    this.#unanswered.push(response)
    // One listener that is not taken away again costs less than `once`, at each request.
    response.on('close', () => this.#answered(given))
    if (length === 0) return this.#start(given)
    this.#held.push(given)
    this.#count()
    // The first of them is there whole, as others have come behind it: its answer needs no more reading.
    if (length >= this.#maxUnanswered && !this.#isPaused) {
      this.#isPaused = true
      this.#socket.pause()
    }
    this.#startHeld()
  }

  idleSince(openedAt: number): number | undefined {
    return this.#unanswered.length > 0 ? undefined : (this.#answeredAt ?? openedAt)
  }

  countUnsent(): void {
    this.#unsent = this.#unanswered.length && this.#socket.writableLength
    for (const response of this.#unanswered) if (!response.socket) this.#unsent += response.writableLength
    this.#count()
  }

  #count(): void {
    const [next] = this.#unanswered
    const bytes = HELD_BYTES * this.#held.length + this.#unsent
    if (next && bytes > 0)
      this.#memory ??= processLedger().hold(clientOf(next) ?? this.#socket, 0, () => this.#socket.destroy())
    this.#memory?.resize(bytes)
  }

  isWhole(): boolean {
    return this.#unanswered.length > 0 && this.#unanswered.every(({ req }) => req.complete)
  }

  #close(): void {
    this.#held.length = 0
    this.#memory?.release()
    this.#turns.close()
    // Node ends the response that is being written; those whose turn has not come would wait for ever.
    // A copy: each that closes leaves the list.
    for (const response of this.#unanswered.slice()) {
      if (response.socket) continue
      response.destroy()
      response.emit('close')
    }
  }

  #start(given: Admitted): void {
    this.#started++
    this.#all.start(given)
  }

  /** The next in line always, so that each connection goes on; more only while half of all places are free. */
  #mayStart(): boolean {
    const { destroyed, writableEnded } = this.#socket
    if (destroyed || writableEnded || this.#held.length === 0) return false
    if (this.#started >= this.#maxUnanswered) return false
    return this.#started === 0 || this.#all.inFlight.length < this.#all.maxInFlight / 2
  }

  #startHeld(): void {
    if (!this.#mayStart() || this.#turns.waiting > 0) return
    this.#turns.run(() => {
      const next = this.#mayStart() ? this.#held.shift() : undefined
      if (!next) return
      this.#count()
      this.#start(next)
      this.#startHeld()
    })
  }

  #answered(given: Admitted): void {
    this.#all.leave(given)
    const at = this.#unanswered.indexOf(given.response)
    // Told again.
    if (at < 0) return
    this.#unanswered.splice(at, 1)
    this.#started--
    this.#answeredAt = systemClock.now()
    if (this.#isPaused && this.#unanswered.length <= this.#maxUnanswered) {
      this.#isPaused = false
      this.#socket.resume()
    }
    this.#startHeld()
    given.served?.end(given.request, given.response)
  }
}

function refuse(response: ServerResponse, { status, code, message }: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'retry-after': '1' })
  response.end(JSON.stringify({ errors: [{ message, extensions: { code } }] }))
}
