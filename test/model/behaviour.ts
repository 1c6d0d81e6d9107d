import { setTimeout as sleep } from 'node:timers/promises'
import { type MutationPlan, type Outcome, USER_HEADERS } from './plan.ts'
import { replyTo } from './shapes.ts'
import type { Mark, Truth } from './truth.ts'

/** Mutations run out of time after this long, where the step says so. */
export const DEADLINE_MS = 400
/** And are carried out this long after they came. */
const LATE_MS = { deadline: 650, 'client leaves': 150 } as const
/** Long enough for who waits for the answer to be killed. */
const UNANSWERED_MS = 2_000

export interface MutationArgs {
  readonly id: string
  readonly other: string
  readonly text: string
}

/** What a backend does when it is not simply there. */
export class Behaviour {
  readonly truth: Truth
  /** Whether an update moves links, so that rows join lists that did not hold them. */
  readonly #relinks: boolean
  outcome: Outcome = 'answered'
  /** Reads of joined rows fail, as part of a mutation. */
  failsJoins = false
  /** Mutations that came and are not carried out yet. */
  late = 0
  /** Reads that were held back since the last `hold`. */
  held = 0
  #gate: Promise<void> | undefined
  #open: () => void = () => {}

  constructor(truth: Truth, relinks: boolean) {
    this.truth = truth
    this.#relinks = relinks
  }

  /** Answers of reads that come from now on are made at once and held back until `open`. */
  hold(): void {
    this.held = 0
    this.#gate = new Promise((resolve) => {
      this.#open = resolve
    })
  }

  /** Reads that come from now on are not held back; those that wait, wait on. */
  letPass(): void {
    this.#gate = undefined
  }

  open(): void {
    this.letPass()
    this.#open()
  }

  /** The answer is computed before it waits. */
  async read<T>(answer: () => T): Promise<T> {
    const value = answer()
    if (this.#gate) this.held++
    await this.#gate
    return value
  }

  async mutate(
    plan: MutationPlan,
    args: MutationArgs,
    mark: Mark,
  ): Promise<Record<string, unknown> | undefined> {
    const { truth, outcome } = this
    this.outcome = 'answered'
    if (outcome === 'deadline' || outcome === 'client leaves') {
      this.late++
      await sleep(LATE_MS[outcome])
      this.late--
    }
    const before = truth.entity(plan.type, args.id, mark)
    const id = truth.commit(plan, args, this.#relinks)
    if (outcome === 'failed after commit') throw new FailedAfterCommit()
    if (outcome === 'partly') this.failsJoins = true
    if (outcome === 'killed') await sleep(UNANSWERED_MS)
    return replyTo(plan, truth, id, before ?? truth.entity(plan.type, id, mark), mark)
  }
}

export class FailedAfterCommit extends Error {
  override readonly name = 'FailedAfterCommit'
}

/** What a backend echoes of who asks: every header of a user that reached it, and its gateway's own. */
export function markOf(valueOf: (header: string) => string | undefined): Mark {
  return [...USER_HEADERS, 'x-place']
    .map((name) => [name, valueOf(name)] as const)
    .map(([name, value]) => (value === undefined ? '' : ` <${name}=${value}>`))
    .join('')
}
