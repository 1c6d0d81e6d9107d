import { awake, type Clock } from '@vinyasa/core'
import type { Batch } from './batch.ts'

interface Peer {
  /** The last received count of its batches with events. */
  readonly n: number
  readonly heardAt: number
  /** `missing`: no message for some time, without a shutdown message */
  readonly state: 'present' | 'missing' | 'gone'
  /**
   * Whether the process has sent a heartbeat. Backends that only publish changes are not awaited and cannot be missing.
   */
  readonly isGateway: boolean
  /** Callbacks for applied batches, by count. */
  readonly awaited: Map<number, () => void>
}

/** Number of heartbeats without a message after which a process is missing, and after which it is forgotten. */
const SILENT_BEATS = 3
const REMEMBERED_BEATS = 600
/** Maximum number of distinguished senders. Lost batches of further senders cannot be detected. */
const MOST_SENDERS = 10_000
/** Milliseconds for which a batch waits until the present processes have applied it. */
const APPLIED_WITHIN_MS = 1_000
/**
 * Milliseconds for which a batch waits until the channel accepts it. A channel that does not respond counts as
 * unreachable.
 */
const TAKEN_WITHIN_MS = 250

/** The other processes on a channel. */
export class Peers {
  readonly #peers = new Map<string, Peer>()
  readonly #heartbeatMs: number
  readonly #silentMs: number
  readonly #clock: Clock
  /** The oldest last message of all processes without a shutdown message, at the last check. */
  #oldestHeardAt = Infinity
  /** Whether a process was missing at the last check. */
  isMissing = false
  #missingToldAt = -Infinity
  /** Whether the channel did not accept a batch in time and no message was received since. */
  #isSilent = false
  /** Present processes that did not confirm a batch in time, nor any batch since. */
  readonly #late = new Set<string>()
  #isWaiting = true
  readonly #onState: (state: 'confirmed' | 'unconfirmed') => void
  /** The last time at which this process received no messages. */
  #deafUntil = -Infinity
  /** The last batch and the time at which it was sent. */
  #last = { n: 0, sentAt: -Infinity }

  constructor(heartbeatMs: number, clock: Clock, onState: (state: 'confirmed' | 'unconfirmed') => void) {
    this.#onState = onState
    this.#heartbeatMs = heartbeatMs
    this.#silentMs = SILENT_BEATS * heartbeatMs
    this.#clock = clock
  }

  /** Receives a batch. Returns whether an earlier batch is missing. A new sender has no missing batches. */
  hear(batch: Batch): boolean {
    this.#isSilent = false
    const isMissed = this.#hear(batch)
    this.#tell()
    return isMissed
  }

  #hear({ origin, n, events, isGreeting, isGoodbye, knowsOfMissing }: Batch): boolean {
    if (origin === undefined) return false
    const heardAt = this.#clock.now()
    if (knowsOfMissing) this.#missingToldAt = heardAt
    const known = this.#peers.get(origin)
    if (!known && this.#peers.size >= MOST_SENDERS) return events.length > 0
    const { n: last = Infinity, isGateway = false, awaited = new Map() } = known ?? {}
    if (isGreeting || isGoodbye || known?.state !== 'present') this.#late.delete(origin)
    this.#peers.set(origin, {
      n,
      heardAt,
      state: isGoodbye ? 'gone' : 'present',
      isGateway: isGateway || events.length === 0,
      awaited,
    })
    if (isGoodbye) endAll(awaited)
    return n > last + (events.length > 0 ? 1 : 0)
  }

  /**
   * Resolves when each present process has applied the batch with this count, or has exceeded the time limit. `taken`
   * resolves with whether the channel has accepted the batch.
   */
  haveApplied(n: number, taken: Promise<boolean>): Promise<void> {
    this.#last = { n, sentAt: this.#clock.now() }
    const asked: Peer[] = []
    for (const [origin, peer] of this.#peers)
      if (peer.isGateway && peer.state === 'present' && !this.#late.has(origin)) asked.push(peer)
    if (asked.length === 0 || this.#isSilent) return Promise.resolve()
    return new Promise((resolve) => {
      const end = (): void => {
        leavePatience()
        leaveSilence()
        for (const { awaited } of asked) awaited.delete(n)
        resolve()
      }
      const leavePatience = awake(this.#clock, APPLIED_WITHIN_MS, () => {
        for (const [origin, { awaited }] of this.#peers) if (awaited.has(n)) this.#late.add(origin)
        end()
        this.#tell()
      })
      const leaveSilence = awake(this.#clock, TAKEN_WITHIN_MS, () => {
        this.#isSilent = true
        end()
        this.#tell()
      })
      for (const { awaited } of asked)
        awaited.set(n, () => {
          awaited.delete(n)
          if (!asked.some((peer) => peer.awaited.has(n))) end()
        })
      void taken.then((isTaken) => (isTaken ? leaveSilence() : end()))
    })
  }

  /** Receives the confirmation of a process that it has applied the batches up to this count. */
  hasApplied(origin: string, n: number): void {
    const peer = this.#peers.get(origin)
    if (!peer) return
    const isInTime = n === this.#last.n && this.#clock.now() - this.#last.sentAt < APPLIED_WITHIN_MS
    if (isInTime) this.#late.delete(origin)
    for (const [count, applied] of peer.awaited) if (count <= n) applied()
    this.#tell()
  }

  #tell(): void {
    const isWaiting = !this.#isSilent && this.#late.size === 0
    if (isWaiting === this.#isWaiting) return
    this.#isWaiting = isWaiting
    this.#onState(isWaiting ? 'confirmed' : 'unconfirmed')
  }

  /** Called after messages of other processes can have been missed. */
  wasDeaf(): void {
    this.#deafUntil = this.#clock.now()
  }

  /**
   * Whether a process that was known before the interruption has not sent a message since. It can be disconnected too,
   * and change data. After three heartbeats it counts as missing.
   */
  get isOneAwaited(): boolean {
    if (this.#clock.now() - this.#deafUntil >= this.#silentMs) return false
    for (const { isGateway, state, heardAt } of this.#peers.values())
      if (isGateway && state !== 'gone' && heardAt <= this.#deafUntil) return true
    this.#deafUntil = -Infinity
    return false
  }

  /** Ends all waits. No further messages are received. */
  close(): void {
    for (const { awaited } of this.#peers.values()) endAll(awaited)
  }

  /**
   * Must be called with each heartbeat. Returns whether a process has become silent. It can have ended before it
   * published a change.
   */
  look(): boolean {
    const silentSince = this.#clock.now() - this.#silentMs
    const rememberedSince = this.#clock.now() - REMEMBERED_BEATS * this.#heartbeatMs
    let hasFallenSilent = false
    let oldest = Infinity
    for (const [origin, peer] of this.#peers) {
      const { state, heardAt, isGateway } = peer
      if (heardAt < rememberedSince) this.#peers.delete(origin)
      else if (!isGateway) continue
      else if (state !== 'gone') oldest = Math.min(oldest, heardAt)
      if (state !== 'present' || heardAt >= silentSince) continue
      this.#peers.set(origin, { ...peer, state: 'missing' })
      this.#late.delete(origin)
      hasFallenSilent = true
    }
    this.#tell()
    this.#oldestHeardAt = oldest
    this.isMissing = oldest < silentSince
    return hasFallenSilent
  }

  /** See `InvalidationBus.maxAgeMs`. The getter is cheap, because it is read for each cached response. */
  get maxAgeMs(): number | undefined {
    const silentSince = this.#clock.now() - this.#silentMs
    const isMissing = this.#oldestHeardAt < silentSince || this.#missingToldAt >= silentSince
    return isMissing ? this.#silentMs : undefined
  }
}

function endAll(awaited: ReadonlyMap<number, () => void>): void {
  for (const applied of awaited.values()) applied()
}
