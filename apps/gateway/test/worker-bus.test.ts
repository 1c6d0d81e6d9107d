import type { Clock } from '@vinyasa/core'
import { createInvalidationBus, type InvalidationBus } from '@vinyasa/invalidation'
import { createFakeClock, createRandom, type FakeClock, type Random } from '@vinyasa/test-kit'
import { describe, expect, it, test } from 'vitest'
import type { BusMessage } from '../src/workers/bus-relay.ts'
import type { Peer } from '../src/workers/peer.ts'
import { createBusRelay } from '../src/workers/bus-relay.ts'
import { WorkersOutOfTouchError } from '../src/workers/errors.ts'
import { createWorkerBus } from '../src/workers/worker-bus.ts'

const CHANGE = { entityType: 'User', operation: 'update' }

/** What a process does, and may stop doing for a while (SIGSTOP, a long computation). */
class Doing {
  readonly #clock: FakeClock
  #stillUntil = 0
  #waiting: (() => void)[] = []

  constructor(clock: FakeClock) {
    this.#clock = clock
  }

  get isStill(): boolean {
    return this.#clock.now() < this.#stillUntil
  }

  /** `onWake` runs before anything that waited for it. */
  stop(ms: number, onWake: () => void = () => {}): void {
    this.#stillUntil = this.#clock.now() + ms
    this.#clock.setTimeout(() => {
      onWake()
      for (let next = this.#waiting[0]; next && !this.isStill; next = this.#waiting[0]) {
        next()
        this.#waiting.shift()
      }
    }, ms)
  }

  whenAwake(callback: () => void): void {
    // Never before what has waited longer.
    if (this.isStill || this.#waiting.length > 0) this.#waiting.push(callback)
    else callback()
  }

  /** Its timers fire when it is awake. */
  get clock(): Clock {
    const clock = this.#clock
    return {
      now: clock.now,
      wallNow: clock.wallNow,
      setTimeout: (callback, ms) => clock.setTimeout(() => this.whenAwake(callback), ms),
      clearTimeout: clock.clearTimeout,
    }
  }
}

/** A worker as its siblings see it: it may stand still, and is heard late. */
class FakeWorker {
  readonly #clock: FakeClock
  readonly #doing: Doing
  readonly #first: Doing
  readonly #delay: () => number
  readonly #lose: () => boolean
  readonly #toFirst: ((message: BusMessage) => void)[] = []
  readonly #toWorker: ((message: BusMessage) => void)[] = []
  readonly late: number[] = []
  readonly errors: Error[] = []
  readonly local: InvalidationBus = createInvalidationBus()
  readonly bus: InvalidationBus
  readonly leave: (endedWell: boolean) => void
  #isThere = true
  #lastAt = { first: 0, worker: 0 }
  kept: number | undefined

  /** `lose`: whether this acknowledgement never comes. */
  constructor(
    clock: FakeClock,
    first: Doing,
    relay: ReturnType<typeof createBusRelay>,
    delay: () => number = () => 0,
    lose: () => boolean = () => false,
  ) {
    this.#clock = clock
    this.#doing = new Doing(clock)
    this.#first = first
    this.#delay = delay
    this.#lose = lose
    const peer = (mine: ((message: BusMessage) => void)[], send: (message: BusMessage) => void): Peer => ({
      on: (event: string, listener: (message: never) => void) =>
        event === 'message' && mine.push(listener as never),
      isConnected: () => this.#isThere,
      send: (message) => send(message as BusMessage),
    })
    this.leave = relay.add(
      peer(this.#toFirst, (message) => this.#carry('worker', message)),
      () => void this.late.push(clock.now()),
    )
    this.local.subscribe(() => void (this.kept = undefined), { phase: 'evict' })
    this.bus = createWorkerBus(
      peer(this.#toWorker, (message) => this.#carry('first', message)),
      this.local,
      { clock: this.#doing.clock, onError: (error) => this.errors.push(error) },
    )
  }

  get isStill(): boolean {
    return this.#doing.isStill
  }

  stop(ms: number, onWake: () => void = () => {}): void {
    this.#doing.stop(ms, () => this.#isThere && onWake())
  }

  kill(): void {
    this.#isThere = false
    this.leave(false)
  }

  #carry(to: 'first' | 'worker', message: BusMessage): void {
    if (message.kind === 'applied' && this.#lose()) return
    // In order, save acknowledgements, which may overtake one another.
    const at = this.#clock.now() + this.#delay()
    const inOrder = message.kind === 'applied' ? at : Math.max(at, this.#lastAt[to])
    if (message.kind !== 'applied') this.#lastAt[to] = inOrder
    const deliver = (): void => {
      if (!this.#isThere) return
      for (const listener of to === 'first' ? this.#toFirst : this.#toWorker) listener(message)
    }
    this.#clock.setTimeout(
      () => (to === 'worker' ? this.#doing : this.#first).whenAwake(deliver),
      inOrder - this.#clock.now(),
    )
  }
}

function someWorkers(count: number, delay?: () => number, lose?: () => boolean) {
  const clock = createFakeClock()
  const first = new Doing(clock)
  const relay = createBusRelay(first.clock)
  const start = (): FakeWorker => new FakeWorker(clock, first, relay, delay, lose)
  return { clock, first, start, workers: Array.from({ length: count }, start) }
}

async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false
  void promise.then(() => (done = true))
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  return done
}

describe('a bus between workers', () => {
  it('has a change applied by the others before who made it goes on', async () => {
    const { clock, workers } = someWorkers(3, () => 5)
    await clock.advance(100)
    const [a, b, c] = workers as [FakeWorker, FakeWorker, FakeWorker]
    b.kept = c.kept = 1
    const published = a.bus.publish([CHANGE])
    await clock.advance(15)
    expect(await isDone(published)).toBe(false)
    expect([b.kept, c.kept]).toEqual([undefined, undefined])
    await clock.advance(5)
    expect(await isDone(published)).toBe(true)
  })

  it('gives a change the name that it has on the bus of whoever made it', async () => {
    const { clock, workers } = someWorkers(2)
    await clock.advance(100)
    const [a, b] = workers as [FakeWorker, FakeWorker]
    const names: unknown[] = []
    for (const { local } of workers) local.subscribe((_events, name) => void names.push(name))
    const name = { origin: 'a', n: 1, isOwn: true }
    const published = [a.bus.publish([CHANGE], name), b.bus.publish([CHANGE])]
    await clock.advance(100)
    await Promise.all(published)
    expect(names).toHaveLength(4)
    expect(names).toEqual(expect.arrayContaining([name, { ...name, isOwn: false }, undefined, undefined]))
  })

  it('waits for a worker that stands still until it may not answer from what it keeps, once', async () => {
    const { clock, workers } = someWorkers(2)
    await clock.advance(100)
    const [a, b] = workers as [FakeWorker, FakeWorker]
    expect(b.bus.isInTouch).toBe(true)
    b.stop(20_000)
    const published = a.bus.publish([CHANGE])
    await clock.advance(500)
    expect(await isDone(published)).toBe(false)
    await clock.advance(600)
    expect(await isDone(published)).toBe(true)
    expect(b.bus.isInTouch).toBe(false)
    expect(b.late).toHaveLength(1)
    expect(await isDone(a.bus.publish([CHANGE]).then(() => clock.advance(0)))).toBe(false)
    await clock.advance(1)
    expect(await isDone(a.bus.publish([CHANGE]))).toBe(false)
    await clock.advance(30_000)
    expect(b.late).toHaveLength(1)
    expect(b.bus.isInTouch).toBe(true)
  })

  it('is out of touch before the first process has answered, and after it fell silent', async () => {
    const clock = createFakeClock()
    const silent: Peer = { on: () => {}, isConnected: () => true, send: () => {} }
    const onError = (): void => {}
    expect(createWorkerBus(silent, createInvalidationBus(), { clock, onError }).isInTouch).toBe(false)
    const { clock: time, workers } = someWorkers(1)
    await time.advance(100)
    expect(workers[0]?.bus.isInTouch).toBe(true)
    workers[0]?.kill()
    await time.advance(1_100)
    expect(workers[0]?.bus.isInTouch).toBe(false)
  })

  it('waits for a first process that stands still until nobody answers from what it keeps, and says so', async () => {
    const { clock, first, workers } = someWorkers(2)
    await clock.advance(100)
    const [a, b] = workers as [FakeWorker, FakeWorker]
    b.kept = 1
    first.stop(20_000)
    const published = a.bus.publish([CHANGE])
    await clock.advance(2_500)
    expect(await isDone(published)).toBe(false)
    await clock.advance(1_000)
    expect(await isDone(published)).toBe(true)
    expect([a.bus.isInTouch, b.bus.isInTouch]).toEqual([false, false])
    expect(a.errors).toEqual([expect.any(WorkersOutOfTouchError)])
    // What it was told meanwhile it passes on when it wakes, before anybody is in touch.
    await clock.advance(16_500)
    expect(b.kept).toBeUndefined()
    await clock.advance(1_000)
    expect([a.bus.isInTouch, b.bus.isInTouch]).toEqual([true, true])
  })

  it('tells the others that anything may have changed when a worker ends otherwise than well', async () => {
    const { clock, workers, start } = someWorkers(2)
    await clock.advance(100)
    const heard: { at: number; type: string | undefined }[] = []
    const [a, b] = workers as [FakeWorker, FakeWorker]
    a.local.subscribe((events) => void heard.push({ at: clock.now(), type: events[0]?.entityType }))
    const endedAt = clock.now()
    start().leave(false)
    b.kill()
    await clock.advance(40_000)
    expect(heard.map(({ at, type }) => [at - endedAt, type])).toEqual([
      [0, '*'],
      [1_000, '*'],
      [5_000, '*'],
      [30_000, '*'],
    ])
    a.leave(true)
    expect(clock.pending()).toBeLessThanOrEqual(2)
  })
})

/**
 * Random workers read, change, stand still, are killed and replaced; their first process stands still now and then. Returns
 * the oldness of the first old answer.
 */
async function anyOldAnswer(random: Random): Promise<string | undefined> {
  let isOver = false
  const delay = (): number => (isOver ? 0 : random.chance(0.1) ? random.below(1_500) : random.below(20))
  const { clock, first, workers, start } = someWorkers(2 + random.below(2), delay, () => random.chance(0.1))
  let committed = 0
  let answered = 0
  let failure: string | undefined

  function read(worker: FakeWorker): void {
    const isKept = worker.bus.isInTouch === true
    const value = (isKept ? worker.kept : undefined) ?? committed
    if (isKept) worker.kept = value
    if (value < answered) failure ??= `${value} after ${answered} at ${clock.now()}`
  }

  function change(worker: FakeWorker): void {
    const version = ++committed
    void worker.bus.publish([CHANGE]).then(() => (answered = Math.max(answered, version)))
  }

  for (let step = 0; step < 120 && failure === undefined; step++) {
    const place = random.below(workers.length)
    const worker = workers[place]!
    const dice = random.next()
    if (dice < 0.02 && !first.isStill) first.stop(random.below(6_000))
    else if (dice < 0.05 && !worker.isStill) worker.stop(random.below(4_000), () => read(worker))
    else if (dice < 0.07) {
      // Killed after a commit that it told nobody.
      committed++
      worker.kill()
      workers[place] = start()
    } else if (worker.isStill) continue
    else if (dice < 0.3) change(worker)
    else read(worker)
    await clock.advance(random.chance(0.1) ? random.below(1_500) : random.below(40))
    for (const each of workers) if (!each.isStill) read(each)
  }
  isOver = true
  await clock.advance(40_000)
  for (const worker of workers) {
    read(worker)
    if (worker.kept !== committed) failure ??= `${worker.kept} is kept, ${committed} was committed last`
  }
  return failure
}

test.each(Array.from({ length: 40 }, (_, seed) => seed))(
  'no worker answers with what is older than a change that was answered: seed %i',
  async (seed) => {
    expect(await anyOldAnswer(createRandom(seed, 'workers'))).toBeUndefined()
  },
)
