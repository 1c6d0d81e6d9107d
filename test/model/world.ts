import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisServer, type Tally, waitUntil } from '@vinyasa/test-kit'
import type { Answer } from './ask.ts'
import { attack } from './attack.ts'
import { DEADLINE_MS } from './behaviour.ts'
import { Observer, PATIENCE_MS, type Reading, type Violation } from './observer.ts'
import type { Place } from './places.ts'
import type { Operation, Probe, StepPlan, UserHeaders, WorldPlan } from './plan.ts'
import { watch, type Watcher } from './watcher.ts'

/** How long they take where three heartbeats are missed first, or live queries run again over four seconds. */
const AFTER_LOSS_MS = 9_000

/** After a cut, until it was announced again that the backend may have committed meanwhile, at the latest. */
const REMINDED_MS = 2_000

/** And how long before another gateway may not have heard of a change. */
const HEARD_MS = 1_000

export interface WorldParts {
  readonly plan: WorldPlan
  readonly places: readonly Place[]
  readonly pool: readonly Operation[]
  readonly tally: Tally
  readonly redis: RedisServer | undefined
  /** No step is begun any more. */
  readonly isOver: () => boolean
}

const hasRunOut = ({ errors = [] }: Answer): boolean =>
  errors.some(({ extensions }) => extensions?.code === 'TIMEOUT')

const documentOf = (selection: string): Operation => ({ head: '', selection, variables: undefined })

/** Carries out the steps of one world, one after the other, until one breaks a rule. */
export class World {
  readonly #plan: WorldPlan
  readonly #places: readonly Place[]
  readonly #pool: readonly Operation[]
  readonly #tally: Tally
  readonly #redis: RedisServer | undefined
  readonly #isOver: () => boolean
  readonly #watchers: Watcher[] = []
  readonly #observer: Observer
  /** Where something was changed last. */
  #changed: { readonly place: Place; readonly at: number } | undefined

  constructor({ plan, places, pool, tally, redis, isOver }: WorldParts) {
    this.#plan = plan
    this.#places = places
    this.#pool = pool
    this.#tally = tally
    this.#redis = redis
    this.#isOver = isOver
    this.#observer = new Observer(tally)
  }

  async run(steps: readonly StepPlan[]): Promise<Violation | undefined> {
    try {
      for (const [index, step] of steps.entries()) {
        if (this.#isOver()) return undefined
        this.#observer.step = index
        this.#tally.add(`step ${step.kind}`)
        await this.#take(step)
        if (this.#observer.violation) return this.#observer.violation
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
      case 'crowd':
        return this.#crowd(step)
      case 'wait':
        return sleep(step.ms)
      case 'watch':
        return this.#watch(step)
      case 'leave':
        return this.#watchers.splice(step.client, 1)[0]?.close()
      case 'mutate':
        return this.#mutate(step)
      case 'outage':
        return this.#outage(step)
      case 'kill':
        return this.#kill(step)
      case 'race':
        return this.#race(step)
      case 'attack': {
        const got = await attack(this.#places[step.place]!, this.#user(step.user), step, this.#plan.settings)
        if (got !== undefined)
          this.#observer.violate('let in', step.document, `${step.attack}, ${step.way}`, 'a refusal', got)
      }
    }
  }

  #user(index: number): UserHeaders {
    return this.#plan.users[index]!
  }

  #reading({ place, user, operation, way }: Probe): Reading {
    return { place: this.#places[place]!, user: this.#user(user), operation: this.#pool[operation]!, way }
  }

  async #crowd(step: Extract<StepPlan, { kind: 'crowd' }>): Promise<void> {
    const readings = this.#plan.users.map((_, user) => this.#reading({ ...step, user }))
    if (step.isAtOnce) {
      await this.#askTogether(readings)
      await Promise.all(readings.map((reading) => this.#check(reading)))
    } else for (const reading of readings) await this.#check(reading)
  }

  /** The backend answers nobody before all have asked. */
  async #askTogether(readings: readonly Reading[]): Promise<void> {
    const { behaviour } = readings[0]!.place.tenant
    behaviour.hold()
    const asked = Promise.all(readings.map((reading) => this.#observer.ask(reading)))
    await sleep(20)
    behaviour.open()
    await asked
  }

  async #watch(step: Extract<StepPlan, { kind: 'watch' }>): Promise<void> {
    const { place, user, operation } = this.#reading(step)
    const watcher: Watcher = watch(place, user, operation, step.transport, (update) => {
      this.#tally.add('live updates')
      this.#observer.lookForMarks(update as Answer, user, place, operation, step.transport)
    })
    this.#watchers.push(watcher)
    await this.#observer.converge([watcher])
  }

  async #mutate(step: Extract<StepPlan, { kind: 'mutate' }>): Promise<void> {
    const place = this.#places[step.place]!
    const { behaviour } = place.tenant
    const user = this.#user(step.user)
    const probes = step.probes.map((probe) => this.#reading(probe))
    if (step.isWarm) for (const probe of probes) await this.#observer.ask(probe)
    behaviour.outcome = step.outcome
    const isLate = step.outcome === 'deadline' || step.outcome === 'client leaves'
    const leave = step.outcome === 'client leaves' ? AbortSignal.timeout(50) : undefined
    const startedAt = performance.now()
    const answer = leave
      ? await this.#leave(place, user, step.document, leave)
      : await this.#observer.ask({
          place,
          user,
          operation: documentOf(step.document),
          way: step.way === 'get' || step.way === 'shared get' ? 'post' : step.way,
        })
    // A backend that the machine kept waiting: the outcome is as unknown as that of a deadline.
    const ranOut = step.outcome !== 'deadline' && hasRunOut(answer)
    behaviour.outcome = 'answered'
    behaviour.failsJoins = false
    this.#tally.add(`mutation ${ranOut ? 'ran out of time' : step.outcome}`)
    this.#changed = { place, at: performance.now() }
    if (isLate || ranOut) {
      const answeredAt = performance.now()
      // What is asked now is old when the backend gets to it.
      for (const probe of probes) await this.#observer.ask(probe)
      while (behaviour.late > 0 || performance.now() - startedAt < DEADLINE_MS) await sleep(10)
      await sleep(20)
      // Until the events are published again, each worker and each cache entry can be outdated. A read that returns the new
      // value does not prove that the next one does.
      await this.#untilReminded(answeredAt)
    }
    for (const probe of probes) {
      if (isLate || ranOut) await this.#observer.check(probe, ranOut ? AFTER_LOSS_MS : PATIENCE_MS)
      else await this.#check(probe)
      if (this.#observer.violation) return
    }
    await this.#observer.converge(this.#watchers)
  }

  async #untilReminded(answeredAt: number): Promise<void> {
    await sleep(Math.max(0, answeredAt + REMINDED_MS - performance.now()))
  }

  /** Another gateway hears of a change a moment later. */
  #check(reading: Reading): Promise<void> {
    const { place, at } = this.#changed ?? {}
    const isFresh = place && place !== reading.place && performance.now() - (at ?? 0) < HEARD_MS
    return this.#observer.check(reading, isFresh ? PATIENCE_MS : 0)
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

  /** Who changes knows of it at once, the others when Redis is back; nothing old comes back then. */
  async #outage({
    fault,
    document,
    place: index,
    probes,
  }: Extract<StepPlan, { kind: 'outage' }>): Promise<void> {
    const redis = this.#redis!
    const place = this.#places[index]!
    const readings = probes.map((probe) => this.#reading(probe))
    for (const reading of readings) await this.#observer.check(reading)
    await (fault === 'kill' ? redis.kill() : redis.stop())
    try {
      for (const reading of readings) await this.#observer.ask(reading)
      await this.#observer.ask({ place, user: this.#user(0), operation: documentOf(document), way: 'post' })
      for (const reading of readings) if (reading.place === place) await this.#observer.check(reading)
    } finally {
      await (fault === 'kill' ? redis.restart() : redis.cont())
    }
    for (const reading of readings) await this.#observer.check(reading, AFTER_LOSS_MS)
    await this.#observer.converge(this.#watchers, AFTER_LOSS_MS)
    await sleep(500)
    for (const reading of readings) await this.#observer.check(reading)
  }

  async #kill({ document, probes }: Extract<StepPlan, { kind: 'kill' }>): Promise<void> {
    const mortal = this.#places.at(-1)!
    const { behaviour } = mortal.tenant
    const readings = probes.map((probe) => this.#reading(probe))
    for (const reading of readings) await this.#observer.check(reading)
    for (const watcher of this.#watchers.splice(0))
      if (watcher.place === mortal) await watcher.close()
      else this.#watchers.push(watcher)
    const { version } = behaviour.truth
    behaviour.outcome = 'killed'
    const unanswered = this.#observer.ask({
      place: mortal,
      user: this.#user(0),
      operation: documentOf(document),
      way: 'post',
    })
    await waitUntil(() => behaviour.truth.version > version, { awaited: 'the commit' })
    await mortal.kill?.()
    await unanswered
    for (const reading of readings) await this.#observer.check(reading, AFTER_LOSS_MS)
    await this.#observer.converge(this.#watchers, AFTER_LOSS_MS)
  }

  /** Reads whose backend is slow, a mutation meanwhile, and the same reads after the mutation's answer. */
  async #race(step: Extract<StepPlan, { kind: 'race' }>): Promise<void> {
    const { behaviour } = this.#places[step.place]!.tenant
    const readings = step.operations.map((operation) => this.#reading({ ...step, operation, way: 'post' }))
    const checkAll = (): Promise<unknown> =>
      Promise.all(readings.map((reading) => this.#observer.check(reading)))
    // What a cache holds no backend is asked for.
    await this.#observer.ask({ ...readings[0]!, operation: documentOf(step.document) })
    behaviour.hold()
    let open = readings.length
    const early = Promise.all(readings.map((reading) => this.#observer.ask(reading).finally(() => open--)))
    // Until they wait in the backend, but for those that a cache has answered.
    await waitUntil(() => open === 0 || behaviour.held > 0, { awaited: 'a read to be held', everyMs: 2 })
    await sleep(20)
    behaviour.letPass()
    // Joined fields of the mutation may wait for what is held.
    const mutation = this.#observer.ask({ ...readings[0]!, operation: documentOf(step.document) })
    const answered = await Promise.race([mutation, sleep(DEADLINE_MS, undefined)])
    this.#changed = { place: readings[0]!.place, at: performance.now() }
    if (!answered || hasRunOut(answered)) {
      behaviour.open()
      await Promise.all([mutation, early])
      await this.#untilReminded(performance.now())
      return
    }
    const late = checkAll()
    // Time to join what is held, if anything lets them.
    await sleep(50)
    behaviour.open()
    await Promise.all([early, late])
    if (this.#observer.violation) return
    await checkAll()
    await this.#observer.converge(this.#watchers)
  }
}
