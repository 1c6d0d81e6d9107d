import { systemClock, type Clock } from '@vinyasa/base'
import { Line, type Turns } from './turns/line.ts'
import { LoopTurns } from './turns/loop-turns.ts'
import type { Shares } from './turns/share.ts'
import { WorkLine } from './turns/work-line.ts'

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

export function createFairTurns(options: FairTurnsOptions = {}): FairTurns {
  const { perTurn = 8, nextTurn = setImmediate, clock = systemClock } = options
  const loop = new LoopTurns({ perTurn, nextTurn, now: clock.now })
  const jobShares: Shares = new Map()
  const workShares: Shares = new Map()
  return {
    open: (client) => new Line(loop, jobShares, client),
    openWork: (client) => new WorkLine(new Line(loop, workShares, client), clock),
    makeWay: () => loop.makeWay(),
  }
}
