import { systemClock, type Clock } from '@vinyasa/core'

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

/** A line whose jobs take a while. */
export interface WorkLine {
  /** Settles as the work does. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
}

/**
 * Shares the event loop between clients that each have more to do than others should wait for, whatever the number of their
 * sockets: one job of each in its turn.
 */
export interface FairTurns {
  /** A line of jobs of one client, by a key of any kind. The lines of a client take turns with each other in its share. */
  open(client: unknown): Turns
  /** A line of work of one client, of which 32 are under way at once, whatever the number of its lines. */
  openWork(client: unknown): WorkLine
  /**
   * Call for a connection that has just come: while more come, next to nothing is begun, so that the loop comes round soon.
   * Node accepts one connection each time, and behind those of one client wait those of all others.
   */
  makeWay(): void
}

/** The event loop that jobs share. */
export interface EventLoop {
  /** Jobs that begin in one turn of the event loop. Default 8. */
  readonly perTurn: number
  /**
   * Default `setImmediate`: after what has arrived on other connections. Called once for each job, so that all that follows
   * from one without waiting is over before the next.
   */
  readonly nextTurn: (run: () => void) => unknown
  readonly clock: Clock
}

export function createFairTurns(): FairTurns {
  return createFairTurnsOf({})
}

/** Creates turns of another event loop, for tests. */
export function createFairTurnsOf(loopParts: Partial<EventLoop>): FairTurns {
  const { perTurn = 8, nextTurn = setImmediate, clock = systemClock } = loopParts
  const loop = new LoopTurns(perTurn, nextTurn, clock.now)
  const jobShares: Shares = new Map()
  const workShares: Shares = new Map()
  return {
    open: (client) => new Line(loop, jobShares, client),
    openWork: (client) => workLine(new Line(loop, workShares, client), clock),
    makeWay: () => loop.makeWay(),
  }
}

/** Work that takes longer waits for a slow backend: no reason why the client's other work should wait. */
const QUICK_MS = 250

function workLine(line: Line, clock: Clock): WorkLine {
  return {
    run: (work) =>
      new Promise((resolve, reject) => {
        line.run(() => {
          const over = line.countWork()
          const timer = clock.setTimeout(over, QUICK_MS)
          const done = work()
          done.then(resolve, reject)
          const end = (): void => {
            clock.clearTimeout(timer)
            over()
          }
          done.then(end, end)
        })
      }),
  }
}

/** The jobs of one line that wait. */
type Jobs = (() => void)[]

/** The shares of clients of whom something waits or is under way. */
type Shares = Map<unknown, Share>

/** Work of one client that is under way at once: what waits in a backend for one delays all who ask it. */
const AT_ONCE = 32

/** What one client has that waits or is under way. */
class Share {
  /** The lines in which something waits, in the order of their turns. */
  readonly lines: Set<Jobs> = new Set()
  underWay = 0
  readonly #among: Shares
  readonly #client: unknown

  constructor(among: Shares, client: unknown) {
    this.#among = among
    this.#client = client
    among.set(client, this)
  }

  next(): (() => void) | undefined {
    const [line] = this.lines
    if (!line) return undefined
    const job = line.shift()
    this.lines.delete(line)
    if (line.length > 0) this.lines.add(line)
    return job
  }

  get mayBegin(): boolean {
    return this.underWay < AT_ONCE
  }

  /** Forgotten where it has nothing. */
  forget(): void {
    if (this.lines.size === 0 && this.underWay === 0) this.#among.delete(this.#client)
  }
}

/**
 * Once jobs have taken this long, the rest of a turn is others'. Where the loop needs longer to come round, what has begun
 * before has not ended: one job of each client then, so that what follows of them in later turns is no more, too.
 */
const TURN_MS = 4

/** Connections that keep coming have so long before jobs have another turn. */
const WAY_MS = 25

/** The turns of the event loop: how many jobs begin in each, and whose. */
class LoopTurns {
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

  constructor(perTurn: number, nextTurn: (run: () => void) => unknown, now: () => number) {
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

/** A line of jobs of one client. */
class Line implements Turns {
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
