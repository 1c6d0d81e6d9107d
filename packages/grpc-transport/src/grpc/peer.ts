import type { Connection, ConnectionOptions } from './connection.ts'

type ConnectionEvents = Pick<ConnectionOptions, 'onReady' | 'onRetired'>

export interface PeerOptions {
  /** Tells this peer from others. */
  readonly key: string
  readonly maxConcurrentCalls: number
  readonly maxConnections: number
  readonly random: () => number
  connection(events: ConnectionEvents): Connection
  /** A connection came to stand or is gone. */
  onChange(): void
  /** A connection is gone; without a reason if the server asked for that politely. */
  onLoss(reason: Error | undefined, isStuck: boolean): void
}

const FIRST_BACKOFF_MS = 100
/** Jitter adds a fifth: a restarted backend is found again within a second. */
const MAX_BACKOFF_MS = 700

/** One address with its connections. After a failed attempt it pauses, longer each time. */
export class Peer {
  readonly #options: PeerOptions
  readonly #connections: Connection[] = []
  #failures = 0
  #pausedUntil = 0
  #isClosed = false

  constructor(options: PeerOptions) {
    this.#options = options
  }

  get key(): string {
    return this.#options.key
  }

  get size(): number {
    return this.#connections.length
  }

  get isConnecting(): boolean {
    return this.#connections.some(({ state }) => state === 'connecting')
  }

  get isConnected(): boolean {
    return this.#connections.some(({ state }) => state === 'ready')
  }

  /** Calls that connections under way will take. */
  get roomToCome(): number {
    const opening = this.#connections.filter(({ state }) => state === 'connecting')
    return opening.length * this.#options.maxConcurrentCalls
  }

  /** A connection with fewer calls than are wanted on one. */
  roomy(): Connection | undefined {
    for (const connection of this.#connections) {
      if (connection.active < this.#options.maxConcurrentCalls && hasRoom(connection)) return connection
    }
    return undefined
  }

  /** Of the connections on which the server takes another call, the one with the fewest. */
  leastBusy(): Connection | undefined {
    let least: Connection | undefined
    for (const connection of this.#connections) {
      if (hasRoom(connection) && (!least || connection.active < least.active)) least = connection
    }
    return least
  }

  connectFirst(): void {
    if (this.#connections.length === 0) this.connectMore()
  }

  /** Opens another connection, if that is allowed now. */
  connectMore(): boolean {
    const { maxConnections, connection, onChange, onLoss } = this.#options
    if (this.#isClosed || this.#connections.length >= maxConnections) return false
    if (Date.now() < this.#pausedUntil) return false
    const opened = connection({
      onReady: () => {
        this.#failures = 0
        onChange()
      },
      onRetired: (retired, reason, wasReady) => {
        this.#connections.splice(this.#connections.indexOf(retired), 1)
        if (reason && !wasReady) this.#pause()
        if (!this.#isClosed) onLoss(reason, retired.isStuck)
        onChange()
      },
    })
    this.#connections.push(opened)
    return true
  }

  close(): void {
    this.#isClosed = true
    for (const connection of this.#connections.slice()) connection.retire(undefined)
  }

  #pause(): void {
    const backoff = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 1.6 ** this.#failures++)
    this.#pausedUntil = Date.now() + backoff * (0.8 + 0.4 * this.#options.random())
  }
}

function hasRoom({ state, active, limit, takesCalls }: Connection): boolean {
  return state === 'ready' && active < limit && takesCalls
}
