import { systemClock } from '@vinyasa/core'
import type { Connection, ConnectionOptions } from './connection.ts'

type ConnectionEvents = Pick<ConnectionOptions, 'onReady' | 'onRetired' | 'onFlood'>

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
/** After a connection on which the peer sent more frames than it may. */
const FIRST_FLOOD_BACKOFF_MS = 1_000
const MAX_FLOOD_BACKOFF_MS = 8_000
const FLOODS_FORGOTTEN_MS = 60_000

/** One address with its connections. After a failed attempt it pauses, longer each time. */
export class Peer {
  readonly #options: PeerOptions
  readonly #connections: Connection[] = []
  #failures = 0
  #pausedUntil = 0
  #floods = 0
  #floodedAt = -Infinity
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

  /** It has a connection, or is about to have one. */
  get isAlive(): boolean {
    return this.#connections.some(({ state }) => state !== 'retired')
  }

  /** Calls that connections under way will take. */
  get roomToCome(): number {
    const opening = this.#connections.filter(({ state }) => state === 'connecting')
    return opening.length * this.#options.maxConcurrentCalls
  }

  /** Calls that its server takes at once, over all connections that may be opened; 0 until one is ready. */
  get places(): number {
    const ready = this.#connections.find(({ state }) => state === 'ready')
    return (ready?.limit ?? 0) * this.#options.maxConnections
  }

  /** A connection with fewer calls than are wanted on one. */
  roomy(): Connection | undefined {
    for (const connection of this.#connections) {
      if (connection.active < this.#options.maxConcurrentCalls && connection.hasRoom()) return connection
    }
    return undefined
  }

  /** Returns the connection with the fewest calls, this one or one of its own on which the server takes another. */
  leastBusy(other: Connection | undefined): Connection | undefined {
    let least = other
    for (const connection of this.#connections) {
      if (connection.hasRoom() && (!least || connection.active < least.active)) least = connection
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
    if (systemClock.now() < this.#pausedUntil) return false
    const opened = connection({
      onReady: () => {
        this.#failures = 0
        onChange()
      },
      onFlood: (error) => {
        this.#pauseLong()
        onLoss(error, false)
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
    this.#pauseFor(Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 1.6 ** this.#failures++))
  }

  /** It would flood the next connection, too, and each costs its budgets. */
  #pauseLong(): void {
    const now = systemClock.now()
    this.#floods = now - this.#floodedAt < FLOODS_FORGOTTEN_MS ? this.#floods + 1 : 0
    this.#floodedAt = now
    this.#pauseFor(Math.min(MAX_FLOOD_BACKOFF_MS, FIRST_FLOOD_BACKOFF_MS * 2 ** this.#floods))
  }

  #pauseFor(backoffMs: number): void {
    const until = systemClock.now() + backoffMs * (0.8 + 0.4 * this.#options.random())
    this.#pausedUntil = Math.max(this.#pausedUntil, until)
  }
}
