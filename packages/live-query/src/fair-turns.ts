import { systemClock, type Clock } from '@vinyasa/core'

/** A queue of jobs. */
export interface Turns {
  /**
   * Runs a job. It runs immediately if few jobs have started in this tick and the client has no waiting jobs. Otherwise
   * it runs in a later tick, with one job per waiting client in turn. Jobs must not throw.
   */
  run(job: () => void): void
  /** Number of waiting jobs. */
  readonly waiting: number
  /** Drops the waiting jobs. */
  close(): void
}

/** A queue of asynchronous work. */
export interface WorkLine {
  /** Runs the work and returns its result or error. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
}

/**
 * Shares the event loop between clients, regardless of their number of sockets. Clients with waiting jobs run one job
 * each in turn.
 */
export interface FairTurns {
  /** Opens a queue for a client, by a key of any type. The queues of a client share its part of the event loop. */
  open(client: unknown): Turns
  /**
   * Opens a queue of asynchronous work for a client. At most 32 of a client's tasks run at the same time, in all queues
   * together.
   */
  openWork(client: unknown): WorkLine
  /**
   * Must be called for each new connection. While connections arrive, almost no jobs start, so that the event loop
   * iterates quickly. Node accepts one connection per iteration, and the connections of one client can delay those of
   * all other clients.
   */
  makeWay(): void
}

/** The event loop that jobs share. */
export interface EventLoop {
  /** Number of jobs that start in one tick of the event loop. Default 8. */
  readonly perTurn: number
  /**
   * Schedules a tick. Default `setImmediate`, which runs after the input of other connections. It is called once per
   * job, so that the synchronous consequences of a job end before the next job.
   */
  readonly nextTurn: (run: () => void) => unknown
  readonly clock: Clock
}

export function createFairTurns(): FairTurns {
  return createFairTurnsOf({})
}

/** Creates a scheduler for another event loop, for tests. */
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

/** Longer work waits for a slow backend, so the client's other work need not wait for it. */
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

/** The waiting jobs of one queue. */
type Jobs = (() => void)[]

/** The shares of clients with waiting or running work. */
type Shares = Map<unknown, Share>

/** Maximum number of running tasks of one client. Calls that wait in a backend delay other callers of this backend. */
const AT_ONCE = 32

/** The waiting and running work of one client. */
class Share {
  /** Queues with waiting jobs, in the order of their turns. */
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

  /** Removes the share if it is empty. */
  forget(): void {
    if (this.lines.size === 0 && this.underWay === 0) this.#among.delete(this.#client)
  }
}

/**
 * If jobs have taken this many milliseconds, the rest of a tick is left to other work. If an iteration of the event
 * loop takes longer, earlier work has not ended. Then one job per client starts, so that its consequences in later
 * ticks are limited too.
 */
const TURN_MS = 4

/** Milliseconds for which new connections can delay the next jobs. */
const WAY_MS = 25

/** Decides how many jobs start in each tick, and for which clients. */
class LoopTurns {
  readonly #perTurn: number
  readonly #nextTurn: (run: () => void) => unknown
  readonly #now: () => number
  /** Shares that can start a job, in the order of their turns. */
  readonly #ready = new Set<Share>()
  #begun = 0
  #beganAt = Number.NEGATIVE_INFINITY
  #mayBegin: number
  #isMakingWay = false
  /** Number of scheduled ticks. */
  #places = 0
  #isNewTurn = false
  #askedAt = 0

  constructor(perTurn: number, nextTurn: (run: () => void) => unknown, now: () => number) {
    this.#perTurn = perTurn
    this.#nextTurn = nextTurn
    this.#now = now
    this.#mayBegin = perTurn
  }

  /** Returns whether a job can start immediately. */
  hasRoom(): boolean {
    if (this.#isMakingWay || this.#begun >= this.#mayBegin) return false
    return this.#begun === 0 || this.#now() - this.#beganAt < TURN_MS
  }

  begin(job: () => void): void {
    if (this.#begun++ === 0) this.#beganAt = this.#now()
    this.#askForTurn()
    job()
  }

  /** Must be called when a share has changed. */
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
    // Without waiting jobs, one tick is scheduled to reset the count.
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

/** A queue of jobs of one client. */
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

  /** Counts a running task. The returned function ends it and can be called more than once. */
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
