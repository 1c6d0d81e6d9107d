import { systemClock } from '@vinyasa/base'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FairTurns, Turns } from '@vinyasa/live-query/ws'
import type { Waiting } from './late-answers.ts'
import { createPlaces, type Place } from './places.ts'

export interface ConnectionGateOptions {
  /** Requests of one connection that may be without an answer; behind them its socket is not read. 0: any number. */
  readonly maxUnanswered: number
  /** Requests of all connections that may be without the head of an answer; one more is answered with 503. 0: any number. */
  readonly maxInFlight: number
  /** The part of them that one address may have. */
  readonly addressShare: number
  /** Whose requests count together; empty: nobody's. Asked only where so many are in flight that it matters. */
  readonly addressOf: (request: IncomingMessage) => string
  readonly turns: FairTurns
  /** Requests that are never refused. */
  readonly isProbe: (url: string | undefined) => boolean
}

export interface ConnectionGate {
  /**
   * Call for each request: `serve` runs at once, or in its turn when others of its connection came before it, or never
   * when its client has gone by then. What it returns runs when the response has closed.
   */
  admit(request: IncomingMessage, response: ServerResponse, serve: () => () => void): void
  /** Of what has begun, all without the head of an answer, and perhaps others. */
  readonly inFlight: Iterable<Waiting>
  /** When the last answer of a connection ended, or it was opened; undefined while it has a request. */
  idleSince(socket: Socket, openedAt: number): number | undefined
  /** Bytes of answers that wait behind another one of the connection. */
  bytesBehind(socket: Socket): number
  /** Whether a connection has requests without an answer, all of which are there whole. */
  isWhole(socket: Socket): boolean
}

interface Held extends Waiting {
  readonly serve: () => () => void
  /** Among what is in flight. */
  place: Place<Held> | undefined
  /** Whose it is, once anybody has asked. */
  address: string | undefined
  /** What to do when the response has closed; one listener for all costs less than one for each. */
  ended: (() => void) | undefined
}

interface Connection {
  readonly turns: Turns
  /** Without an answer, in their order, which is that of the answers; those not begun among them. */
  readonly unanswered: ServerResponse[]
  readonly held: Held[]
  begun: number
  paused: boolean
  answeredAt: number | undefined
}

/**
 * One read of a socket can bring two thousand small requests, which Node has parsed before anything can be paused. This
 * many may be held over all connections, at about 4 kB each; a connection that brings more is closed, as its client must
 * expect (RFC 9112, section 9.3.2).
 */
const MAX_HELD = 16_384

/** Why a request is not begun: the status, and what its client is told. */
const OVERLOADED = { status: 503, text: body('The server answers', 'OVERLOADED') }
const TOO_MANY = { status: 429, text: body('For one address the server answers', 'TOO_MANY_AT_ONCE') }

function body(who: string, code: string): string {
  const message = `${who} as many requests as it can at once; try again in a moment.`
  return JSON.stringify({ errors: [{ message, extensions: { code } }] })
}

/**
 * Bounds what a connection, and all of them, can make the server do at once. Node parses and hands out requests that are
 * sent one behind the other as fast as they come; here they begin a few at a time, so that other connections have their
 * turns, and no more are read than may wait.
 */
export function createConnectionGate(options: ConnectionGateOptions): ConnectionGate {
  const { turns, isProbe, addressOf } = options
  const maxUnanswered = options.maxUnanswered || Number.POSITIVE_INFINITY
  const maxInFlight = options.maxInFlight || Number.POSITIVE_INFINITY
  const ofOneAddress = maxInFlight * options.addressShare
  const connections = new WeakMap<Socket, Connection>()
  /** Begun and, as far as anybody has looked, without the head of an answer. */
  const inFlight = createPlaces<Held>()
  let held = 0

  function open(socket: Socket): Connection {
    const connection: Connection = {
      turns: turns.open(socket),
      unanswered: [],
      held: [],
      begun: 0,
      paused: false,
      answeredAt: undefined,
    }
    connections.set(socket, connection)
    // Reading the body of a request resumes the socket.
    socket.on('resume', () => {
      if (connection.paused) socket.pause()
    })
    socket.once('close', () => {
      held -= connection.held.length
      connection.held.length = 0
      connection.turns.close()
      // Node tells the response that is being written; those whose turn has not come would wait for ever.
      // A copy: each that closes leaves the list.
      for (const response of connection.unanswered.slice()) {
        if (response.socket) continue
        response.destroy()
        response.emit('close')
      }
    })
    return connection
  }

  function begin(connection: Connection, held: Held): void {
    connection.begun++
    // Who watches over the process must not take a busy one for a dead one.
    const refusal = isProbe(held.request.url) ? undefined : refusalOf(held)
    if (refusal) return refuse(held.response, refusal)
    held.place = inFlight.add(held)
    held.ended = held.serve()
  }

  function refusalOf(held: Held): typeof OVERLOADED | undefined {
    if (inFlight.size < ofOneAddress) return undefined
    if (isFull()) return OVERLOADED
    const address = ownerOf(held)
    if (address === '' || inFlight.size < ofOneAddress) return undefined
    let others = 0
    for (const one of inFlight) if (!one.response.headersSent && ownerOf(one) === address) others++
    return others >= ofOneAddress ? TOO_MANY : undefined
  }

  function ownerOf(held: Held): string {
    return (held.address ??= addressOf(held.request))
  }

  /** What has begun to be answered, as event streams have, is not in flight any more. */
  function isFull(): boolean {
    if (inFlight.size < maxInFlight) return false
    inFlight.removeIf(({ response }) => response.headersSent)
    return inFlight.size >= maxInFlight
  }

  /** The next in line always, so that each connection goes on; more only while half of all places are free. */
  function mayBegin(connection: Connection, socket: Socket): boolean {
    if (socket.destroyed || connection.held.length === 0 || connection.begun >= maxUnanswered) return false
    return connection.begun === 0 || inFlight.size < maxInFlight / 2
  }

  function beginHeld(connection: Connection, socket: Socket): void {
    if (!mayBegin(connection, socket) || connection.turns.waiting > 0) return
    connection.turns.run(() => {
      const next = mayBegin(connection, socket) ? connection.held.shift() : undefined
      if (!next) return
      held--
      begin(connection, next)
      beginHeld(connection, socket)
    })
  }

  function answered(connection: Connection, { response, place }: Held, socket: Socket): void {
    if (place) inFlight.remove(place)
    const at = connection.unanswered.indexOf(response)
    if (at >= 0) connection.unanswered.splice(at, 1)
    connection.begun--
    connection.answeredAt = systemClock.now()
    if (connection.paused && connection.unanswered.length <= maxUnanswered) {
      connection.paused = false
      socket.resume()
    }
    beginHeld(connection, socket)
  }

  return {
    inFlight,
    admit(request, response, serve) {
      const { socket } = request
      const connection = connections.get(socket) ?? open(socket)
      const given: Held = {
        request,
        response,
        serve,
        waitedMs: 0,
        place: undefined,
        address: undefined,
        ended: undefined,
      }
      connection.unanswered.push(response)
      response.once('close', () => {
        answered(connection, given, socket)
        given.ended?.()
      })
      if (connection.unanswered.length === 1) return begin(connection, given)
      if (held >= MAX_HELD) return void socket.destroy()
      held++
      connection.held.push(given)
      // The first of them is there whole, as others have come behind it: its answer needs no more reading.
      if (connection.unanswered.length > maxUnanswered && !connection.paused) {
        connection.paused = true
        socket.pause()
      }
      beginHeld(connection, socket)
    },
    idleSince(socket, openedAt) {
      const connection = connections.get(socket)
      if (!connection) return openedAt
      return connection.unanswered.length > 0 ? undefined : (connection.answeredAt ?? openedAt)
    },
    bytesBehind(socket) {
      let bytes = 0
      for (const response of connections.get(socket)?.unanswered ?? []) {
        if (!response.socket) bytes += response.writableLength
      }
      return bytes
    },
    isWhole(socket) {
      const unanswered = connections.get(socket)?.unanswered ?? []
      return unanswered.length > 0 && unanswered.every(({ req }) => req.complete)
    },
  }
}

function refuse(response: ServerResponse, { status, text }: typeof OVERLOADED): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'retry-after': '1' })
  response.end(text)
}
