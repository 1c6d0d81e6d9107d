import { setTimeout as sleep } from 'node:timers/promises'
import type { Tally } from '@vinyasa/test-kit'
import { type Answer, ask } from './ask.ts'
import { foreignMarks, isSame, isUnreached, judged } from './judge.ts'
import type { Place } from './places.ts'
import type { Operation, UserHeaders, Way } from './plan.ts'
import { textOf } from './shapes.ts'
import type { Watcher } from './watcher.ts'

/** How long until other gateways, and live clients, show what was changed. */
export const PATIENCE_MS = 4_000

export interface Violation {
  readonly step: number
  readonly what: string
  readonly operation: string
  readonly where: string
  readonly expected: unknown
  readonly got: unknown
}

export interface Reading {
  readonly place: Place
  readonly user: UserHeaders
  readonly operation: Operation
  readonly way: Way
}

const written = (operation: Operation): string =>
  `${textOf(operation)} ${operation.variables ? JSON.stringify(operation.variables) : ''}`

/** Asks, and compares with the uncached answer; keeps the first violation. */
export class Observer {
  readonly #tally: Tally
  /** The step that is taken now. */
  step = 0
  violation: Violation | undefined

  constructor(tally: Tally) {
    this.#tally = tally
  }

  violate(what: string, operation: string, where: string, expected: unknown, got: unknown): void {
    this.violation ??= { step: this.step, what, operation, where, expected, got }
  }

  async ask({ place, user, operation, way }: Reading): Promise<Answer> {
    const answer = await ask(place.url, operation, user, way, undefined, place.shared).catch(
      (error: unknown): Answer => ({
        errors: [{ message: String(error) }],
      }),
    )
    this.#tally.add(`cache ${answer.cache ?? 'none'}`)
    this.lookForMarks(answer, user, place, operation, way)
    if (place.keepsWhatItMayNot(operation, answer, user))
      this.violate(
        'kept',
        written(operation),
        `${place.name}, ${way}, ${JSON.stringify(user)}`,
        'no hit',
        answer.cache,
      )
    return answer
  }

  lookForMarks(answer: Answer, user: UserHeaders, place: Place, operation: Operation, how: string): void {
    const foreign = foreignMarks(answer, user, place.tenant.name)
    if (foreign.length > 0)
      this.violate(
        'leak',
        written(operation),
        `${place.name}, ${how}, ${JSON.stringify(user)}`,
        'no foreign mark',
        foreign,
      )
  }

  /** The uncached answer, and what the place says; they may differ for no longer than `patienceMs`. */
  async check(reading: Reading, patienceMs: number = 0): Promise<void> {
    const { place, user, operation, way } = reading
    const expected = judged(await place.tenant.reference(operation, user))
    const startedAt = performance.now()
    for (;;) {
      const answer = await this.ask(reading)
      const got = judged(answer)
      this.#tally.add('reads compared')
      if (isSame(expected, got) || (way === 'shared get' && place.isSharedLong)) return
      const isLate = performance.now() >= startedAt + (isUnreached(answer) ? PATIENCE_MS : patienceMs)
      if (isLate) {
        const where = `${place.name}, ${way}, ${answer.cache ?? 'no cache'}, ${JSON.stringify(user)}`
        return this.violate('wrong', written(operation), where, expected, got)
      }
      await sleep(25)
    }
  }

  /** Each shows the uncached answer within some time. */
  async converge(watchers: readonly Watcher[], patienceMs: number = PATIENCE_MS): Promise<void> {
    for (const watcher of watchers) {
      const { place, user, operation, name } = watcher
      const expected = judged(await place.tenant.reference(operation, user))
      const until = performance.now() + patienceMs
      while (!watcher.shown || !isSame(expected, judged(watcher.shown))) {
        if (watcher.ended !== undefined || performance.now() > until) {
          const got = watcher.ended ?? (watcher.shown && judged(watcher.shown))
          return this.violate('live', written(operation), `${name}, ${JSON.stringify(user)}`, expected, got)
        }
        await sleep(5)
      }
    }
  }
}
