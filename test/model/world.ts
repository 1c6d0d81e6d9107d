import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, ask } from './ask.ts'
import { attack } from './attack.ts'
import { DEADLINE_MS } from './behaviour.ts'
import { foreignMarks, isSame, judged } from './judge.ts'
import type { Place } from './places.ts'
import type { Operation, StepPlan, UserHeaders, Way, WorldPlan } from './plan.ts'
import { textOf } from './shapes.ts'
import type { Tally } from '@vinyasa/test-kit'
import { watch, type Watcher } from './watcher.ts'

export interface Violation {
  readonly step: number
  readonly what: string
  readonly operation: string
  readonly where: string
  readonly expected: unknown
  readonly got: unknown
}

/** How long until other gateways, and live clients, show what was changed. */
const PATIENCE_MS = 4_000

interface Reading {
  readonly place: Place
  readonly user: UserHeaders
  readonly operation: Operation
  readonly way: Way
}

const documentOf = (selection: string): Operation => ({ head: '', selection, variables: undefined })

const written = (operation: Operation): string =>
  `${textOf(operation)} ${operation.variables ? JSON.stringify(operation.variables) : ''}`

/** Carries out the steps of one world, one after the other, until one breaks a rule. */
export class World {
  readonly #plan: WorldPlan
  readonly #places: readonly Place[]
  readonly #pool: readonly Operation[]
  readonly #tally: Tally
  readonly #watchers: Watcher[] = []
  #step = 0
  #violation: Violation | undefined

  constructor(plan: WorldPlan, places: readonly Place[], pool: readonly Operation[], tally: Tally) {
    this.#plan = plan
    this.#places = places
    this.#pool = pool
    this.#tally = tally
  }

  async run(steps: readonly StepPlan[]): Promise<Violation | undefined> {
    try {
      for (const [index, step] of steps.entries()) {
        this.#step = index
        this.#tally.add(`step ${step.kind}`)
        await this.#take(step)
        if (this.#violation) return this.#violation
      }
      return undefined
    } finally {
      for (const place of this.#places) place.tenant.behaviour.open()
      await Promise.all(this.#watchers.map((watcher) => watcher.close()))
    }
  }

  async #take(step: StepPlan): Promise<void> {
    switch (step.kind) {
      case 'read':
        return this.#check(this.#reading(step))
      case 'wait':
        return sleep(step.ms)
      case 'watch':
        return this.#watch(step)
      case 'leave':
        return this.#watchers.splice(step.client % 4, 1)[0]?.close()
      case 'mutate':
        return this.#mutate(step)
      case 'race':
        return this.#race(step)
      case 'attack': {
        const got = await attack(this.#places[step.place]!, this.#user(step.user), step, this.#plan.settings)
        if (got !== undefined)
          this.#violate('let in', step.document, `${step.attack}, ${step.way}`, 'a refusal', got)
      }
    }
  }

  #user(index: number): UserHeaders {
    return this.#plan.users[index]!
  }

  #reading({
    place,
    user,
    operation,
    way,
  }: {
    place: number
    user: number
    operation: number
    way: Way
  }): Reading {
    return { place: this.#places[place]!, user: this.#user(user), operation: this.#pool[operation]!, way }
  }

  #violate(what: string, operation: string, where: string, expected: unknown, got: unknown): void {
    this.#violation ??= { step: this.#step, what, operation, where, expected, got }
  }

  async #ask({ place, user, operation, way }: Reading): Promise<Answer> {
    const answer = await ask(place.url, operation, user, way).catch((error: unknown): Answer => ({
      errors: [{ message: String(error) }],
    }))
    this.#tally.add(`cache ${answer.cache ?? 'none'}`)
    this.#lookForMarks(answer, user, place, operation, way)
    return answer
  }

  #lookForMarks(answer: Answer, user: UserHeaders, place: Place, operation: Operation, how: string): void {
    const foreign = foreignMarks(answer, user, place.tenant.name)
    if (foreign.length > 0)
      this.#violate(
        'leak',
        written(operation),
        `${place.name}, ${how}, ${JSON.stringify(user)}`,
        'no foreign mark',
        foreign,
      )
  }

  /** The uncached answer, and what the place says; they may differ for a while only where `isPatient`. */
  async #check(reading: Reading, isPatient = false): Promise<void> {
    const { place, user, operation, way } = reading
    const expected = judged(await place.tenant.reference(operation, user))
    const until = performance.now() + PATIENCE_MS
    for (;;) {
      const answer = await this.#ask(reading)
      const got = judged(answer)
      this.#tally.add('reads compared')
      if (isSame(expected, got)) return
      if (!isPatient || performance.now() > until) {
        const where = `${place.name}, ${way}, ${answer.cache ?? 'no cache'}, ${JSON.stringify(user)}`
        return this.#violate('wrong', written(operation), where, expected, got)
      }
      await sleep(25)
    }
  }

  async #watch(step: Extract<StepPlan, { kind: 'watch' }>): Promise<void> {
    const { place, user, operation } = this.#reading(step)
    const watcher: Watcher = watch(place, user, operation, step.transport, (update) => {
      this.#tally.add('live updates')
      this.#lookForMarks(update as Answer, user, place, operation, step.transport)
    })
    this.#watchers.push(watcher)
    await this.#converge([watcher])
  }

  /** Each shows the uncached answer within some time. */
  async #converge(watchers: readonly Watcher[]): Promise<void> {
    for (const watcher of watchers) {
      const { place, user, operation, name } = watcher
      const expected = judged(await place.tenant.reference(operation, user))
      const until = performance.now() + PATIENCE_MS
      while (!watcher.shown || !isSame(expected, judged(watcher.shown))) {
        if (watcher.ended !== undefined || performance.now() > until) {
          const got = watcher.ended ?? (watcher.shown && judged(watcher.shown))
          return this.#violate('live', written(operation), `${name}, ${JSON.stringify(user)}`, expected, got)
        }
        await sleep(5)
      }
    }
  }

  async #mutate(step: Extract<StepPlan, { kind: 'mutate' }>): Promise<void> {
    const place = this.#places[step.place]!
    const { behaviour } = place.tenant
    const user = this.#user(step.user)
    behaviour.outcome = step.outcome
    const isLate = step.outcome === 'deadline' || step.outcome === 'client leaves'
    const leave = step.outcome === 'client leaves' ? AbortSignal.timeout(50) : undefined
    const startedAt = performance.now()
    const answer = leave
      ? await this.#leave(place, user, step.document, leave)
      : await this.#ask({
          place,
          user,
          operation: documentOf(step.document),
          way: step.way === 'get' ? 'post' : step.way,
        })
    // A backend that the machine kept waiting: the outcome is as unknown as that of a deadline.
    const ranOut = answer.errors?.some(({ extensions }) => extensions?.code === 'TIMEOUT') === true
    behaviour.outcome = 'answered'
    behaviour.failsJoins = false
    this.#tally.add(`mutation ${ranOut && !isLate ? 'ran out of time' : step.outcome}`)
    const probes = step.probes.map((probe) => this.#reading(probe))
    if (isLate || ranOut) {
      // What is asked now is old when the backend gets to it.
      for (const probe of probes) await this.#ask(probe)
      while (behaviour.late > 0 || performance.now() - startedAt < DEADLINE_MS) await sleep(10)
      await sleep(20)
    }
    for (const probe of probes) {
      // Another gateway hears of it a moment later.
      await this.#check(probe, isLate || ranOut || probe.place !== place)
      if (this.#violation) return
    }
    await this.#converge(this.#watchers)
  }

  async #leave(place: Place, user: UserHeaders, query: string, signal: AbortSignal): Promise<Answer> {
    const request = fetch(`${place.url}/graphql`, {
      method: 'POST',
      headers: { ...user, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
      signal,
    })
    return request.then((response) => response.json() as Promise<Answer>).catch(() => ({}))
  }

  /** A read whose backend is slow, a mutation meanwhile, and a read after the mutation's answer. */
  async #race(step: Extract<StepPlan, { kind: 'race' }>): Promise<void> {
    const { behaviour } = this.#places[step.place]!.tenant
    const reading = this.#reading({ ...step, way: 'post' })
    behaviour.hold()
    const early = this.#ask(reading)
    await sleep(15)
    behaviour.letPass()
    // Joined fields of the mutation may wait for what is held.
    const mutation = this.#ask({ ...reading, operation: documentOf(step.document) })
    const answered = await Promise.race([mutation.then(() => true), sleep(DEADLINE_MS, false)])
    if (!answered) {
      behaviour.open()
      await Promise.all([mutation, early])
      return
    }
    const late = this.#check(reading)
    await sleep(10)
    behaviour.open()
    await Promise.all([early, late])
    if (this.#violation) return
    await this.#check(reading)
    await this.#converge(this.#watchers)
  }
}
