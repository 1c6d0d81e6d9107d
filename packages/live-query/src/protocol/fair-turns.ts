/** Shares the event loop between peers that each have more to do than others should wait for. */
export interface FairTurns {
  /**
   * Runs a job of a peer: at once while few have begun in this turn of the event loop and none of the same peer waits,
   * else in a later turn, in which each peer that waits has one before any has another. Jobs must not throw.
   */
  run(peer: object, job: () => void): void
  /** How many jobs of a peer wait. */
  waiting(peer: object): number
  /** The peer is gone: its jobs will not be run. */
  forget(peer: object): void
}

export interface FairTurnsOptions {
  /** Jobs that begin in one turn of the event loop. Default 8. */
  readonly perTurn?: number | undefined
  /** Default `setImmediate`: after what has arrived on other connections. */
  readonly nextTurn?: ((run: () => void) => unknown) | undefined
}

export function createFairTurns(options: FairTurnsOptions = {}): FairTurns {
  const { perTurn = 8, nextTurn = setImmediate } = options
  /** In the order of their turns. */
  const queues = new Map<object, (() => void)[]>()
  let begun = 0
  let isNextTurnAsked = false

  function askForNextTurn(): void {
    if (isNextTurnAsked) return
    isNextTurnAsked = true
    nextTurn(takeTurn)
  }

  function takeTurn(): void {
    isNextTurnAsked = false
    begun = 0
    for (const [peer, jobs] of queues) {
      if (begun === perTurn) break
      queues.delete(peer)
      const job = jobs.shift()
      if (jobs.length > 0) queues.set(peer, jobs)
      begin(job)
    }
    if (queues.size > 0) askForNextTurn()
  }

  function begin(job: (() => void) | undefined): void {
    begun++
    // For the next count to begin at none.
    askForNextTurn()
    job?.()
  }

  return {
    run(peer, job) {
      const jobs = queues.get(peer)
      if (jobs) jobs.push(job)
      else if (begun < perTurn) begin(job)
      else queues.set(peer, [job])
    },
    waiting: (peer) => queues.get(peer)?.length ?? 0,
    forget: (peer) => void queues.delete(peer),
  }
}
