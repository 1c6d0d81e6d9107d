import type { Share } from './share.ts'

export interface LoopTurnsOptions {
  /** Jobs that begin in one turn of the event loop. */
  readonly perTurn: number
  /** Runs in a later turn; called once for each job. */
  readonly nextTurn: (run: () => void) => unknown
  readonly now: () => number
}

/**
 * Once jobs have taken this long, the rest of a turn is others'. Where the loop needs longer to come round, what has begun
 * before has not ended: one job of each client then, so that what follows of them in later turns is no more, too.
 */
const TURN_MS = 4

/** Connections that keep coming have so long before jobs have another turn. */
const WAY_MS = 25

/** The turns of the event loop: how many jobs begin in each, and whose. */
export class LoopTurns {
  readonly #perTurn: number
  readonly #nextTurn: (run: () => void) => unknown
  readonly #now: () => number
  /** The shares of which something may begin, in the order of their turns. */
  readonly #ready = new Set<Share>()
  #begun = 0
  #beganAt = Number.NEGATIVE_INFINITY
  #mayBegin: number
  #isMakingWay = false
  /** For how many jobs a later turn was asked. */
  #places = 0
  #isNewTurn = false
  #askedAt = 0

  constructor({ perTurn, nextTurn, now }: LoopTurnsOptions) {
    this.#perTurn = perTurn
    this.#nextTurn = nextTurn
    this.#now = now
    this.#mayBegin = perTurn
  }

  /** Whether a job may begin at once. */
  hasRoom(): boolean {
    if (this.#isMakingWay || this.#begun >= this.#mayBegin) return false
    return this.#begun === 0 || this.#now() - this.#beganAt < TURN_MS
  }

  begin(job: () => void): void {
    if (this.#begun++ === 0) this.#beganAt = this.#now()
    this.#askForTurn()
    job()
  }

  /** To be called when anything of a share has changed. */
  settle(share: Share): void {
    if (share.lines.size > 0 && share.mayBegin) {
      this.#ready.add(share)
      this.#askForTurn()
      return
    }
    this.#ready.delete(share)
    share.forget()
  }

  /** See `FairTurns.makeWay`. */
  makeWay(): void {
    if (this.#now() - this.#beganAt >= WAY_MS) return
    this.#isMakingWay = true
    this.#askForTurn()
  }

  #askForTurn(): void {
    if (this.#places > 0) return
    this.#isNewTurn = true
    this.#askedAt = this.#now()
    // One is needed where nothing waits: the next count begins at none.
    this.#places = this.#ready.size > 0 ? this.#perTurn : 1
    for (let asked = this.#places; asked > 0; asked--) this.#nextTurn(this.#takePlace)
  }

  readonly #takePlace = (): void => {
    this.#places--
    if (this.#isNewTurn) {
      this.#isNewTurn = false
      this.#begun = 0
      this.#mayBegin = this.#jobsOfTurn()
      this.#isMakingWay = false
    }
    if (this.#ready.size === 0) return
    this.#askForTurn()
    const [share] = this.hasRoom() ? this.#ready : []
    if (!share) return
    const job = share.next()
    this.#ready.delete(share)
    this.settle(share)
    if (job) this.begin(job)
  }

  #jobsOfTurn(): number {
    if (this.#isMakingWay) return 0
    const isLate = this.#now() - this.#askedAt > TURN_MS
    return isLate ? Math.max(1, Math.min(this.#perTurn, this.#ready.size)) : this.#perTurn
  }
}
