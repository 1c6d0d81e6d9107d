import type { Clock } from '@vinyasa/base'
import type { Batch } from './batch.ts'

interface Peer {
  /** Its count of batches with events, as far as it was heard. */
  readonly n: number
  readonly heardAt: number
  /** `missing`: silent without a goodbye. */
  readonly state: 'present' | 'missing' | 'gone'
  /** It did not say in time that it had applied a batch, and has not said so of any since. */
  readonly isLate: boolean
  /** Called when it has applied a batch, by that batch's count. */
  readonly awaited: Map<number, () => void>
}

/** Heartbeats without a word after which a process is missing, and those after which it is forgotten. */
const SILENT_BEATS = 3
const REMEMBERED_BEATS = 600
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
  #isMissing = false
  #missingToldAt = -Infinity
  /** The channel did not take a batch in time, and nothing was heard since. */
  #isSilent = false

  constructor(heartbeatMs: number, clock: Clock) {
    this.#heartbeatMs = heartbeatMs
    this.#silentMs = SILENT_BEATS * heartbeatMs
    this.#clock = clock
  }

  /** Whether something is missing before this batch. A sender heard for the first time has missed nothing. */
  hear({ origin, n, events, isGreeting, isGoodbye, knowsOfMissing }: Batch): boolean {
    this.#isSilent = false
    if (origin === undefined) return false
    const heardAt = this.#clock.now()
    if (knowsOfMissing) this.#missingToldAt = heardAt
    const known = this.#peers.get(origin)
    const { n: last = Infinity, isLate = false, awaited = new Map() } = known ?? {}
    const isBack = isGreeting || known?.state !== 'present'
    this.#peers.set(origin, {
      n,
      heardAt,
      state: isGoodbye ? 'gone' : 'present',
      isLate: isLate && !isBack,
      awaited,
    })
    return n > last + (events.length > 0 ? 1 : 0)
  }

  /**
   * Resolves when each who is there has applied the batch of this count, or did not say so in time. `taken` says whether the
   * channel has it.
   */
  haveApplied(n: number, taken: Promise<boolean>): Promise<void> {
    const asked = [...this.#peers.values()].filter(({ state, isLate }) => state === 'present' && !isLate)
    if (asked.length === 0 || this.#isSilent) return Promise.resolve()
    return new Promise((resolve) => {
      const end = (): void => {
        leavePatience()
        leaveSilence()
        for (const { awaited } of asked) awaited.delete(n)
        resolve()
      }
      const leavePatience = awake(this.#clock, APPLIED_WITHIN_MS, () => {
        for (const [origin, peer] of this.#peers)
          if (peer.awaited.has(n)) this.#peers.set(origin, { ...peer, isLate: true })
        end()
      })
      const leaveSilence = awake(this.#clock, TAKEN_WITHIN_MS, () => {
        this.#isSilent = true
        end()
      })
      for (const { awaited } of asked)
        awaited.set(n, () => {
          awaited.delete(n)
          if (!asked.some((peer) => peer.awaited.has(n))) end()
        })
      void taken.then((isTaken) => (isTaken ? leaveSilence() : end()))
    })
  }

  /** The sender says that it has applied a batch. */
  hasApplied({ origin = '', applied }: Batch): void {
    const peer = this.#peers.get(origin)
    if (!peer || !applied) return
    this.#peers.set(origin, { ...peer, isLate: false })
    peer.awaited.get(applied.n)?.()
  }

  /** To be called with each heartbeat. Whether one has fallen silent since: it may have died before it told of a change. */
  look(): boolean {
    const silentSince = this.#clock.now() - this.#silentMs
    const rememberedSince = this.#clock.now() - REMEMBERED_BEATS * this.#heartbeatMs
    let hasFallenSilent = false
    let oldest = Infinity
    for (const [origin, peer] of this.#peers) {
      const { state, heardAt } = peer
      if (heardAt < rememberedSince) this.#peers.delete(origin)
      else if (state !== 'gone') oldest = Math.min(oldest, heardAt)
      if (state !== 'present' || heardAt >= silentSince) continue
      this.#peers.set(origin, { ...peer, state: 'missing' })
      hasFallenSilent = true
    }
    this.#oldestHeardAt = oldest
    this.#isMissing = oldest < silentSince
    return hasFallenSilent
  }

  /** Whether one was missing at the last look. */
  get isMissing(): boolean {
    return this.#isMissing
  }

  /** See `InvalidationBus.maxAgeMs`. Cheap: it is asked for each answer from a cache. */
  get maxAgeMs(): number | undefined {
    const silentSince = this.#clock.now() - this.#silentMs
    const isMissing = this.#oldestHeardAt < silentSince || this.#missingToldAt >= silentSince
    return isMissing && this.#heartbeatMs > 0 ? this.#silentMs : undefined
  }
}

const PARTS = 5

/**
 * Calls after a time in which this process was not held up: what has come meanwhile it reads before the next part of it.
 * The returned function ends the wait.
 */
function awake(clock: Clock, ms: number, call: () => void): () => void {
  let timer: unknown
  const wait = (parts: number): void => {
    if (parts === 0) call()
    else timer = clock.setTimeout(() => wait(parts - 1), ms / PARTS)
  }
  wait(PARTS)
  return () => clock.clearTimeout(timer)
}
