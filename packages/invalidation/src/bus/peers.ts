import { awake, type Clock } from '@vinyasa/core'
import type { Batch } from './batch.ts'

interface Peer {
  /** Its count of batches with events, as far as it was heard. */
  readonly n: number
  readonly heardAt: number
  /** `missing`: silent without a goodbye. */
  readonly state: 'present' | 'missing' | 'gone'
  /** It has said that it is there: a backend that only writes what it changes is waited for by nobody, and not missed. */
  readonly isGateway: boolean
  /** Called when it has applied a batch, by that batch's count. */
  readonly awaited: Map<number, () => void>
}

/** Heartbeats without a word after which a process is missing, and those after which it is forgotten. */
const SILENT_BEATS = 3
const REMEMBERED_BEATS = 600
/** Senders that are told apart. Of what comes from further ones nobody can say whether anything is missing before it. */
const MOST_SENDERS = 10_000
/** How long a batch waits for those who are there to apply it. */
const APPLIED_WITHIN_MS = 1_000
/** How long it waits for the channel to take it: one that says nothing is as good as none. */
const TAKEN_WITHIN_MS = 250

/** The other processes on a channel. */
export class Peers {
  readonly #peers = new Map<string, Peer>()
  readonly #heartbeatMs: number
  readonly #silentMs: number
  readonly #clock: Clock
  /** Of all that have not said goodbye, at the last look. */
  #oldestHeardAt = Infinity
  /** Whether one was missing at the last look. */
  isMissing = false
  #missingToldAt = -Infinity
  /** The channel did not take a batch in time, and nothing was heard since. */
  #isSilent = false
  /** Those present who did not say in time that they had applied a batch, and have not said so in time of any since. */
  readonly #late = new Set<string>()
  #isWaiting = true
  readonly #onState: (state: 'confirmed' | 'unconfirmed') => void
  /** When this process heard nothing last. */
  #deafUntil = -Infinity
  /** The last batch, and when it was sent. */
  #last = { n: 0, sentAt: -Infinity }

  constructor(heartbeatMs: number, clock: Clock, onState: (state: 'confirmed' | 'unconfirmed') => void) {
    this.#onState = onState
    this.#heartbeatMs = heartbeatMs
    this.#silentMs = SILENT_BEATS * heartbeatMs
    this.#clock = clock
  }

  /** Whether something is missing before this batch. A sender heard for the first time has missed nothing. */
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
   * Resolves when each who is there has applied the batch of this count, or did not say so in time. `taken` says whether the
   * channel has it.
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

  /** A peer says that it has applied the batches up to this count. */
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

  /** This process may have missed what others said. */
  wasDeaf(): void {
    this.#deafUntil = this.#clock.now()
  }

  /**
   * Whether one that this process knew before it was deaf is still to be heard: it may be parted, too, and change something
   * meanwhile. For three heartbeats: then it is missing.
   */
  get isOneAwaited(): boolean {
    if (this.#clock.now() - this.#deafUntil >= this.#silentMs) return false
    for (const { isGateway, state, heardAt } of this.#peers.values())
      if (isGateway && state !== 'gone' && heardAt <= this.#deafUntil) return true
    this.#deafUntil = -Infinity
    return false
  }

  /** Nobody waits any more: nothing is heard from now on. */
  close(): void {
    for (const { awaited } of this.#peers.values()) endAll(awaited)
  }

  /** To be called with each heartbeat. Whether one has fallen silent since: it may have died before it told of a change. */
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

  /** See `InvalidationBus.maxAgeMs`. Cheap: it is asked for each answer from a cache. */
  get maxAgeMs(): number | undefined {
    const silentSince = this.#clock.now() - this.#silentMs
    const isMissing = this.#oldestHeardAt < silentSince || this.#missingToldAt >= silentSince
    return isMissing ? this.#silentMs : undefined
  }
}

function endAll(awaited: ReadonlyMap<number, () => void>): void {
  for (const applied of awaited.values()) applied()
}
