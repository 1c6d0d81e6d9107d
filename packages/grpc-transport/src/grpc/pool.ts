import { systemClock, type Clock } from '@vinyasa/base'
import { GrpcCallError } from '../status.ts'
import type { Connection, ConnectionOptions } from './connection.ts'
import { Peer, type PeerOptions } from './peer.ts'
import type { SocketAddress, Target } from './target.ts'

/** A call that waits for a connection. */
export interface PendingCall {
  begin(connection: Connection): void
  fail(error: GrpcCallError): void
}

/** Gives calls their connections: turn by turn over the addresses of a target, more of them under load. */
export interface Pool {
  /** Begins the call at once when there is a connection with room, else when there is one, or fails it. */
  run(call: PendingCall): void
  /** The call waits no longer. */
  leave(call: PendingCall): void
  /** Calls that run may end. */
  close(): void
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

export function createPool(options: PoolOptions): Pool {
  const { target, connectTimeoutMs, clock = systemClock } = options
  const lookupEveryMs = target.isNamed && options.lookupEveryMs > 0 ? options.lookupEveryMs : Infinity
  const waiting = new Set<PendingCall>()
  let peers: readonly Peer[] = []
  let turn = 0
  let isResolving = false
  let resolveTimer: unknown
  let resolvedAt = -Infinity
  let isStale = true
  let lastFailure: GrpcCallError | undefined
  let isClosed = false

  function run(call: PendingCall): void {
    const connection = waiting.size === 0 ? pick() : undefined
    if (connection) {
      call.begin(connection)
      if (!isResolving && clock.now() - resolvedAt >= lookupEveryMs) void resolve()
      if (peers.length > 1) for (const peer of peers) peer.connectFirst()
      return
    }
    waiting.add(call)
    serve()
  }

  function pick(): Connection | undefined {
    for (let step = 0; step < peers.length; step++) {
      const peer = peers[(turn + step) % peers.length]
      const connection = peer?.roomy()
      if (!connection) continue
      turn = (turn + step + 1) % peers.length
      return connection
    }
    return undefined
  }

  /** Begins what can begin, opens what is missing, fails what has nothing to wait for. */
  function serve(): void {
    beginWaiting(pick)
    if (waiting.size === 0) return
    if (isClosed) return failWaiting(closedError())
    grow()
    beginWaiting(() => leastBusy(peers))
    // At the server's own limit calls wait for others to end.
    if (isResolving || peers.some((peer) => peer.isConnecting || peer.isConnected)) return
    failWaiting(
      lastFailure ??
        new GrpcCallError('UNAVAILABLE', `${target.authority} has no address`, { wasSent: false }),
    )
  }

  function beginWaiting(from: () => Connection | undefined): void {
    for (const call of waiting) {
      const connection = from()
      if (!connection) return
      waiting.delete(call)
      call.begin(connection)
    }
  }

  function failWaiting(error: GrpcCallError): void {
    const calls = [...waiting]
    waiting.clear()
    for (const call of calls) call.fail(error)
  }

  function grow(): void {
    if (isStale && !isResolving && clock.now() - resolvedAt >= RESOLVE_EVERY_MS) void resolve()
    for (const peer of peers) peer.connectFirst()
    let room = peers.reduce((sum, peer) => sum + peer.roomToCome, 0)
    while (waiting.size > room) {
      const opened = [...peers].sort((a, b) => a.size - b.size).find((peer) => peer.connectMore())
      if (!opened) return
      room += options.maxConcurrentCalls
    }
  }

  async function resolve(): Promise<void> {
    isResolving = true
    if (connectTimeoutMs > 0) {
      resolveTimer = clock.setTimeout(
        () => settle(new Error(`no answer within ${connectTimeoutMs} ms`)),
        connectTimeoutMs,
      )
    }
    try {
      update(await target.resolve())
      settle(undefined)
    } catch (error) {
      settle(error)
    }
  }

  function settle(error: unknown): void {
    clock.clearTimeout(resolveTimer)
    isResolving = false
    resolvedAt = clock.now()
    isStale = error !== undefined
    if (error !== undefined && peers.length === 0) {
      const reason = error instanceof Error ? error.message : String(error)
      lastFailure = new GrpcCallError('UNAVAILABLE', `${target.authority} was not found: ${reason}`, {
        wasSent: false,
        cause: error,
      })
    }
    serve()
  }

  /** Keeps the peers that are still there. */
  function update(addresses: readonly SocketAddress[]): void {
    if (isClosed) return
    const known = new Map(peers.map((peer) => [peer.key, peer]))
    const next = new Map<string, Peer>()
    for (const address of addresses) {
      const key = JSON.stringify(address)
      next.set(key, known.get(key) ?? new Peer({ ...options, key, ...eventsOf(address) }))
    }
    for (const peer of peers) if (!next.has(peer.key)) peer.close()
    peers = [...next.values()]
  }

  function eventsOf(address: SocketAddress): Pick<PeerOptions, 'connection' | 'onChange' | 'onLoss'> {
    const place = 'path' in address ? address.path : `${address.host}:${address.port}`
    return {
      connection: (events) => options.connection(address, { ...events, onRoom }),
      onChange: serve,
      onLoss(reason, isStuck) {
        isStale ||= target.isNamed
        if (!reason) return
        const { message } = reason
        // Where a peer says nothing another attempt would wait as long again, so it is not made.
        lastFailure = new GrpcCallError('UNAVAILABLE', `no connection to ${place}: ${message}`, {
          retryable: !isStuck,
          wasSent: false,
          cause: reason,
        })
      },
    }
  }

  function onRoom(): void {
    if (waiting.size > 0) serve()
  }

  return {
    run,
    leave: (call) => void waiting.delete(call),
    close() {
      isClosed = true
      clock.clearTimeout(resolveTimer)
      for (const peer of peers) peer.close()
      peers = []
      failWaiting(closedError())
    },
  }
}

function leastBusy(peers: readonly Peer[]): Connection | undefined {
  let least: Connection | undefined
  for (const peer of peers) {
    const connection = peer.leastBusy()
    if (connection && (!least || connection.active < least.active)) least = connection
  }
  return least
}

function closedError(): GrpcCallError {
  return new GrpcCallError('UNAVAILABLE', 'the source was closed before the call began', {
    retryable: false,
    wasSent: false,
  })
}
