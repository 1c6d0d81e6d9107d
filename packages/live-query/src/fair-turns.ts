import { systemClock, type Clock } from '@vinyasa/base'

/**
 * Shares the event loop between clients that each have more to do than others should wait for, whatever the number of their
 * sockets: one job of each in its turn.
 */
export interface FairTurns {
  /** A line of jobs of one client, by a key of any kind. The lines of a client take turns with each other in its share. */
  open(client: unknown): Turns
  /** A line of work of one client, of which 32 are under way at once, whatever the number of its lines. */
  openWork(client: unknown): WorkTurns
  /**
   * Call for a connection that has just come: while more come, next to nothing is begun, so that the loop comes round soon.
   * Node accepts one connection each time, and behind those of one client wait those of all others.
   */
  makeWay(): void
}

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

/** Work that takes a while, in its turns. */
export interface WorkTurns {
  /** Settles as the work does. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
}

export interface FairTurnsOptions {
  /** Jobs that begin in one turn of the event loop. Default 8. */
  readonly perTurn?: number | undefined
  /**
   * Default `setImmediate`: after what has arrived on other connections. Called once for each job, so that all that follows
   * from one without waiting is over before the next.
   */
  readonly nextTurn?: ((run: () => void) => unknown) | undefined
  readonly clock?: Clock | undefined
}

/**
 * Once jobs have taken this long, the rest of a turn is others'. Where the loop needs longer to come round, what has begun
 * before has not ended: one job of each client then, so that what follows of them in later turns is no more, too.
 */
const TURN_MS = 4

/** Connections that keep coming have so long before jobs have another turn. */
const WAY_MS = 25

/** Work of one client that is under way at once: what waits in a backend for one delays all who ask it. */
const AT_ONCE = 32
/** Work that takes longer waits for a slow backend: no reason why the client's other work should wait. */
const QUICK_MS = 250

interface Line {
  readonly jobs: (() => void)[]
}

/** The work of one client that waits or is under way. */
class Share {
  /** The lines in which something waits, in the order of their turns. */
  readonly lines = new Set<Line>()
  underWay = 0
  readonly #among: Map<unknown, Share>
  readonly #client: unknown

  constructor(among: Map<unknown, Share>, client: unknown) {
    this.#among = among
    this.#client = client
    among.set(client, this)
  }

  next(): (() => void) | undefined {
    const [line] = this.lines
    if (!line) return undefined
    const job = line.jobs.shift()
    this.lines.delete(line)
    if (line.jobs.length > 0) this.lines.add(line)
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

export function createFairTurns(options: FairTurnsOptions = {}): FairTurns {
  const { perTurn = 8, nextTurn = setImmediate, clock = systemClock } = options
  const { now } = clock
  /** By clients of whom something waits or is under way. */
  const jobShares = new Map<unknown, Share>()
  const workShares = new Map<unknown, Share>()
  /** The shares of which something may begin, in the order of their turns. */
  const ready = new Set<Share>()
  let begun = 0
  let beganAt = Number.NEGATIVE_INFINITY
  let isMakingWay = false
  /** For how many jobs a later turn was asked. */
  let places = 0
  let isNewTurn = false
  let askedAt = 0
  let mayBegin = perTurn

  function hasRoom(): boolean {
    if (isMakingWay || begun >= mayBegin) return false
    return begun === 0 || now() - beganAt < TURN_MS
  }

  function askForTurn(): void {
    if (places > 0) return
    isNewTurn = true
    askedAt = now()
    // One is needed where nothing waits: the next count begins at none.
    places = ready.size > 0 ? perTurn : 1
    for (let asked = places; asked > 0; asked--) nextTurn(takePlace)
  }

  function takePlace(): void {
    places--
    if (isNewTurn) {
      isNewTurn = false
      begun = 0
      mayBegin = jobsOfTurn()
      isMakingWay = false
    }
    if (ready.size === 0) return
    askForTurn()
    const [share] = hasRoom() ? ready : []
    if (!share) return
    const job = share.next()
    ready.delete(share)
    settle(share)
    if (job) begin(job)
  }

  function jobsOfTurn(): number {
    if (isMakingWay) return 0
    const isLate = now() - askedAt > TURN_MS
    return isLate ? Math.max(1, Math.min(perTurn, ready.size)) : perTurn
  }

  function begin(job: () => void): void {
    if (begun++ === 0) beganAt = now()
    askForTurn()
    job()
  }

  /** To be called when anything of a share has changed. */
  function settle(share: Share): void {
    if (share.lines.size > 0 && share.mayBegin) {
      ready.add(share)
      askForTurn()
      return
    }
    ready.delete(share)
    share.forget()
  }

  /** Returns what to call when the work is over, more than once perhaps. */
  function countWork(share: Share): () => void {
    share.underWay++
    settle(share)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      share.underWay--
      settle(share)
    }
  }

  function openLine(shares: Map<unknown, Share>, client: unknown): Turns {
    const line: Line = { jobs: [] }
    return {
      get waiting() {
        return line.jobs.length
      },
      run(job) {
        const known = shares.get(client)
        const waits = known && (known.lines.size > 0 || !known.mayBegin)
        if (!waits && hasRoom()) return begin(job)
        line.jobs.push(job)
        const share = known ?? new Share(shares, client)
        share.lines.add(line)
        settle(share)
      },
      close() {
        line.jobs.length = 0
        const share = shares.get(client)
        if (share?.lines.delete(line)) settle(share)
      },
    }
  }

  function openWork(client: unknown): WorkTurns {
    const line = openLine(workShares, client)
    return {
      run: (work) =>
        new Promise((resolve, reject) => {
          line.run(() => {
            const over = countWork(workShares.get(client) ?? new Share(workShares, client))
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

  return {
    open: (client) => openLine(jobShares, client),
    openWork,
    makeWay() {
      if (now() - beganAt >= WAY_MS) return
      isMakingWay = true
      askForTurn()
    },
  }
}
