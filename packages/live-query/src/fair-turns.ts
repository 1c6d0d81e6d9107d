import { systemClock } from '@vinyasa/base'

/**
 * Shares the event loop between clients that each have more to do than others should wait for, whatever the number of their
 * sockets: one job of each in its turn.
 */
export interface FairTurns {
  /** A line of jobs of one client, by a key of any kind. The lines of a client take turns with each other in its share. */
  open(client: unknown): Turns
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
  /** What waits will not be run. */
  close(): void
}

export interface FairTurnsOptions {
  /** Jobs that begin in one turn of the event loop. Default 8. */
  readonly perTurn?: number | undefined
  /**
   * Default `setImmediate`: after what has arrived on other connections. Called once for each job, so that all that follows
   * from one without waiting is over before the next.
   */
  readonly nextTurn?: ((run: () => void) => unknown) | undefined
  readonly now?: (() => number) | undefined
}

/**
 * Once jobs have taken this long, the rest of a turn is others'. Where the loop needs longer to come round, what has begun
 * before has not ended: one job of each client then, so that what follows of them in later turns is no more, too.
 */
const TURN_MS = 4

export function createFairTurns(options: FairTurnsOptions = {}): FairTurns {
  const { perTurn = 8, nextTurn = setImmediate, now = systemClock.now } = options
  /** Clients with what waits of theirs; both in the order of their turns. */
  const clients = new Map<unknown, Set<Line>>()
  let begun = 0
  let beganAt = 0
  /** For how many jobs a later turn was asked. */
  let places = 0
  let isNewTurn = false
  let askedAt = 0
  let mayBegin = perTurn

  const hasRoom = (): boolean => begun === 0 || (begun < mayBegin && now() - beganAt < TURN_MS)

  function askForTurn(): void {
    if (places > 0) return
    isNewTurn = true
    askedAt = now()
    // One is needed where nothing waits: the next count begins at none.
    places = clients.size > 0 ? perTurn : 1
    for (let asked = places; asked > 0; asked--) nextTurn(takePlace)
  }

  function takePlace(): void {
    places--
    if (isNewTurn) {
      isNewTurn = false
      begun = 0
      const isLate = now() - askedAt > TURN_MS
      mayBegin = isLate ? Math.min(perTurn, clients.size) : perTurn
    }
    const job = hasRoom() ? nextJob() : undefined
    if (clients.size > 0) askForTurn()
    if (job) begin(job)
  }

  function begin(job: () => void): void {
    if (begun++ === 0) beganAt = now()
    askForTurn()
    job()
  }

  function nextJob(): (() => void) | undefined {
    for (const [client, lines] of clients) {
      clients.delete(client)
      const [line] = lines
      lines.delete(line as Line)
      const job = line?.jobs.shift()
      if (line && line.jobs.length > 0) lines.add(line)
      if (lines.size > 0) clients.set(client, lines)
      return job
    }
    return undefined
  }

  class Line implements Turns {
    readonly #client: unknown
    readonly jobs: (() => void)[] = []

    constructor(client: unknown) {
      this.#client = client
    }

    get waiting(): number {
      return this.jobs.length
    }

    run(job: () => void): void {
      const lines = clients.get(this.#client)
      if (!lines && hasRoom()) return begin(job)
      this.jobs.push(job)
      if (lines) lines.add(this)
      else clients.set(this.#client, new Set([this]))
      askForTurn()
    }

    close(): void {
      this.jobs.length = 0
      const lines = clients.get(this.#client)
      if (lines?.delete(this) && lines.size === 0) clients.delete(this.#client)
    }
  }

  return { open: (client) => new Line(client) }
}
