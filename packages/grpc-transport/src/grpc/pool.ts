import { FairQueue, NO_PLACE, systemClock, type Clock, ownerOf } from '@vinyasa/core'
import { GrpcCallError } from '../status.ts'
import type { Connection, ConnectionOptions } from './connection.ts'
import { Peer, type PeerOptions } from './peer.ts'
import type { SocketAddress, Target } from './target.ts'

/** The part of a server's places that is left to calls, however many open streams. */
const LEFT_TO_CALLS = 1 / 8

/**
 * The streams without an end that are open, by whose they are (`ownerOf`). An owner may have as many as places for streams are
 * free: half of these where it is alone, fewer the more others have. Some are for calls alone, so that these find one always.
 */
class EndlessStreams<Stream extends { readonly caller?: unknown }> {
  readonly #owners = new Map<Stream, unknown>()
  readonly #counts = new Map<unknown, number>()

  /** Counts it as open, unless it is. `places`: calls that the servers take at once. False: its owner has its share. */
  enter(stream: Stream, places: number): boolean {
    if (this.#owners.has(stream)) return true
    const owner = ownerOf(stream.caller)
    const count = this.#counts.get(owner) ?? 0
    if (Number.isFinite(places)) {
      const left = Math.min(places - 1, Math.ceil(places * LEFT_TO_CALLS))
      if (count >= places - left - this.#owners.size) return false
    }
    this.#owners.set(stream, owner)
    this.#counts.set(owner, count + 1)
    return true
  }

  /** Does nothing for one that is not open. */
  leave(stream: Stream): void {
    const owner = this.#owners.get(stream)
    if (!this.#owners.delete(stream)) return
    const left = (this.#counts.get(owner) ?? 1) - 1
    if (left > 0) this.#counts.set(owner, left)
    else this.#counts.delete(owner)
  }
}

/** A call that waits for a connection. */
export interface PendingCall {
  /** See `TransportCall`. */
  readonly caller?: unknown
  /** A stream with no deadline: it holds its place for as long as its client likes. */
  readonly isEndless: boolean
  begin(connection: Connection): void
  end(error: GrpcCallError): void
}

export interface PoolOptions extends Pick<PeerOptions, 'maxConcurrentCalls' | 'maxConnections' | 'random'> {
  readonly target: Target
  readonly connectTimeoutMs: number
  /** A name is looked up again after this long. 0: only when a connection is lost. */
  readonly lookupEveryMs: number
  /** Default: the platform's. */
  readonly clock?: Clock | undefined
  connection(
    address: SocketAddress,
    events: Pick<ConnectionOptions, 'onReady' | 'onRetired' | 'onFlood' | 'onRoom'>,
  ): Connection
}

/** A name that leads nowhere any more is looked up again, this often at most. */
const RESOLVE_EVERY_MS = 1_000

/** Gives calls their connections: turn by turn over the addresses of a target, more of them under load. */
export class Pool {
  readonly #options: PoolOptions
  readonly #clock: Clock
  readonly #lookupEveryMs: number
  readonly #waiting = new FairQueue<PendingCall>()
  readonly #endless = new EndlessStreams<PendingCall>()
  #peers: readonly Peer[] = []
  #turn = 0
  #isResolving = false
  #resolveTimer: unknown
  #resolvedAt = -Infinity
  #isStale = true
  #lastFailure: GrpcCallError | undefined
  #isClosed = false

  constructor(options: PoolOptions) {
    const { target, lookupEveryMs, clock = systemClock } = options
    this.#options = options
    this.#clock = clock
    this.#lookupEveryMs = target.isNamed && lookupEveryMs > 0 ? lookupEveryMs : Infinity
  }

  /** Begins the call at once when there is a connection with room, else when there is one, or fails it. */
  run(call: PendingCall): void {
    const connection = this.#waiting.size === 0 ? this.#pick() : undefined
    if (connection) {
      this.#begin(call, connection)
      if (!this.#isResolving && this.#isOlderThan(this.#lookupEveryMs)) void this.#resolve()
      for (const peer of this.#peers) peer.connectFirst()
      return
    }
    if (this.#waiting.add(call, call.caller)) this.#serve()
    // Another attempt would find no place either.
    else call.end(unavailable(NO_PLACE.message, { retryable: false, ownLimit: { of: 'waiting' } }))
  }

  /** The call waits no longer, or holds its place no longer. */
  leave(call: PendingCall): void {
    this.#waiting.delete(call)
    if (call.isEndless) this.#endless.leave(call)
  }

  /** Calls that run may end. */
  close(): void {
    this.#isClosed = true
    this.#clock.clearTimeout(this.#resolveTimer)
    for (const peer of this.#peers) peer.close()
    this.#peers = []
    this.#failWaiting(closedError())
  }

  #isOlderThan(milliseconds: number): boolean {
    return this.#clock.now() - this.#resolvedAt >= milliseconds
  }

  #pick(): Connection | undefined {
    const peers = this.#peers
    for (let step = 0; step < peers.length; step++) {
      const peer = peers[(this.#turn + step) % peers.length]
      const connection = peer?.roomy()
      if (!connection) continue
      this.#turn = (this.#turn + step + 1) % peers.length
      return connection
    }
    return undefined
  }

  /** Begins what can begin, opens what is missing, fails what has nothing to wait for. */
  #serve(): void {
    this.#beginWaiting(() => this.#pick())
    if (this.#waiting.size === 0) return
    if (this.#isClosed) return this.#failWaiting(closedError())
    this.#grow()
    this.#beginWaiting(() =>
      this.#peers.reduce<Connection | undefined>((least, peer) => peer.leastBusy(least), undefined),
    )
    // At the server's own limit calls wait for others to end.
    if (this.#isResolving || this.#peers.some((peer) => peer.isAlive)) return
    const { authority } = this.#options.target
    this.#failWaiting(this.#lastFailure ?? unavailable(`${authority} did not resolve to an address`))
  }

  #beginWaiting(from: () => Connection | undefined): void {
    while (this.#waiting.size > 0) {
      const connection = from()
      if (!connection) return
      const call = this.#waiting.next()
      if (call) this.#begin(call, connection)
    }
  }

  #begin(call: PendingCall, connection: Connection): void {
    if (!call.isEndless || this.#endless.enter(call, this.#places())) return call.begin(connection)
    call.end(
      unavailable('the limit of open streams is reached', {
        retryable: false,
        ownLimit: { of: 'streams' },
      }),
    )
  }

  /** Calls that the servers take at once, over all connections that may be opened. */
  #places(): number {
    return this.#peers.reduce((sum, peer) => sum + peer.places, 0)
  }

  #failWaiting(error: GrpcCallError): void {
    for (const call of this.#waiting.clear()) call.end(error)
  }

  #grow(): void {
    if (this.#isStale && !this.#isResolving && this.#isOlderThan(RESOLVE_EVERY_MS)) void this.#resolve()
    for (const peer of this.#peers) peer.connectFirst()
    let room = this.#peers.reduce((sum, peer) => sum + peer.roomToCome, 0)
    while (this.#waiting.size > room) {
      const opened = this.#peers.toSorted((a, b) => a.size - b.size).find((peer) => peer.connectMore())
      if (!opened) return
      room += this.#options.maxConcurrentCalls
    }
  }

  async #resolve(): Promise<void> {
    const { target, connectTimeoutMs } = this.#options
    this.#isResolving = true
    if (connectTimeoutMs > 0) {
      const giveUp = (): void =>
        this.#settle(
          new Error(`the DNS lookup took more than ${connectTimeoutMs} ms (channel.connectTimeoutMs)`),
        )
      this.#resolveTimer = this.#clock.setTimeout(giveUp, connectTimeoutMs)
    }
    try {
      this.#update(await target.resolve())
      this.#settle(undefined)
    } catch (error) {
      this.#settle(error)
    }
  }

  #settle(error: unknown): void {
    this.#clock.clearTimeout(this.#resolveTimer)
    this.#isResolving = false
    this.#resolvedAt = this.#clock.now()
    this.#isStale = error !== undefined
    if (error !== undefined && this.#peers.length === 0) {
      const reason = error instanceof Error ? error.message : String(error)
      const { authority } = this.#options.target
      this.#lastFailure = unavailable(`${authority} could not be resolved: ${reason}`, { cause: error })
    }
    this.#serve()
  }

  /** Keeps the peers that are still there. */
  #update(addresses: readonly SocketAddress[]): void {
    if (this.#isClosed) return
    const known = new Map(this.#peers.map((peer) => [peer.key, peer]))
    const next = new Map<string, Peer>()
    for (const address of addresses) {
      const key = JSON.stringify(address)
      next.set(key, known.get(key) ?? new Peer({ ...this.#options, key, ...this.#eventsOf(address) }))
    }
    for (const peer of this.#peers) if (!next.has(peer.key)) peer.close()
    this.#peers = [...next.values()]
  }

  #eventsOf(address: SocketAddress): Pick<PeerOptions, 'connection' | 'onChange' | 'onLoss'> {
    const { target, connection } = this.#options
    const place = 'path' in address ? address.path : `${address.host}:${address.port}`
    const onRoom = (): void => {
      if (this.#waiting.size > 0) this.#serve()
    }
    return {
      connection: (events) => connection(address, { ...events, onRoom }),
      onChange: () => this.#serve(),
      onLoss: (reason, isStuck) => {
        this.#isStale ||= target.isNamed
        if (!reason) return
        const message = `no connection to ${place}: ${reason.message}`
        // A peer that says nothing would make another attempt wait as long, so it is not made.
        this.#lastFailure = unavailable(message, { retryable: !isStuck, cause: reason })
      },
    }
  }
}

function unavailable(
  message: string,
  details: Omit<ConstructorParameters<typeof GrpcCallError>[2], 'wasSent'> = {},
): GrpcCallError {
  return new GrpcCallError('UNAVAILABLE', message, { ...details, wasSent: false })
}

function closedError(): GrpcCallError {
  return unavailable('the gRPC transport was closed before the call started', { retryable: false })
}
