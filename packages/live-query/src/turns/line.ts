import type { LoopTurns } from './loop-turns.ts'
import { Share, type Jobs, type Shares } from './share.ts'

/** Jobs that run in their order. */
export interface Turns {
  /**
   * Runs a job: at once while little has begun in this turn of the event loop and no other of the client waits, else in a
   * later turn, in which each client that waits has one before any has another. Jobs must not throw.
   */
  run(job: () => void): void
  /** How many jobs wait. */
  readonly waiting: number
  /** Drops the jobs that wait: they will not be run. */
  close(): void
}

/** A line of jobs of one client. */
export class Line implements Turns {
  readonly #loop: LoopTurns
  readonly #shares: Shares
  readonly #client: unknown
  readonly #jobs: Jobs = []

  constructor(loop: LoopTurns, shares: Shares, client: unknown) {
    this.#loop = loop
    this.#shares = shares
    this.#client = client
  }

  get waiting(): number {
    return this.#jobs.length
  }

  run(job: () => void): void {
    const known = this.#shares.get(this.#client)
    const waits = known && (known.lines.size > 0 || !known.mayBegin)
    if (!waits && this.#loop.hasRoom()) return this.#loop.begin(job)
    this.#jobs.push(job)
    const share = known ?? new Share(this.#shares, this.#client)
    share.lines.add(this.#jobs)
    this.#loop.settle(share)
  }

  close(): void {
    this.#jobs.length = 0
    const share = this.#shares.get(this.#client)
    if (share?.lines.delete(this.#jobs)) this.#loop.settle(share)
  }

  /** Counts work as under way. Returns what to call when it is over, more than once perhaps. */
  countWork(): () => void {
    const loop = this.#loop
    const share = this.#shares.get(this.#client) ?? new Share(this.#shares, this.#client)
    share.underWay++
    loop.settle(share)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      share.underWay--
      loop.settle(share)
    }
  }
}
