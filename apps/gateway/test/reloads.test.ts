import { createFakeClock } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { createReloads, type ReloadFailure, type ReloadPart } from '../src/workers/reloads.ts'

const AWAY: ReloadFailure = { reason: 'the backend is away; start it', isFinal: false }
const BROKEN: ReloadFailure = { reason: 'sever: unknown setting', isFinal: true }

interface Process extends ReloadPart {
  /** What it serves. */
  serves: number
  /** Why it cannot prepare. */
  failure: ReloadFailure | undefined
  prepared: number | undefined
}

function world(count: number) {
  const clock = createFakeClock()
  const told: [reason: string, retryMs: number | undefined][] = []
  let configured = 0
  const processes = Array.from({ length: count }, (): Process => {
    const self: Process = {
      serves: 0,
      failure: undefined,
      prepared: undefined,
      async prepare() {
        if (!self.failure) self.prepared = configured
        return self.failure
      },
      commit() {
        self.serves = self.prepared!
        self.prepared = undefined
      },
      abandon: () => void (self.prepared = undefined),
    }
    return self
  })
  const reloads = createReloads({
    parts: () => processes,
    onFailure: ({ reason }, retryMs) => void told.push([reason, retryMs]),
    clock,
  })
  return {
    clock,
    told,
    reloads,
    processes,
    configure(number: number) {
      configured = number
      reloads.request()
      return clock.advance(0)
    },
    served: () => processes.map(({ serves }) => serves),
  }
}

it('one process that cannot prepare keeps all with the old, until it can', async () => {
  const { clock, told, processes, configure, served, reloads } = world(3)
  processes[1]!.failure = AWAY
  await configure(1)
  expect(served()).toEqual([0, 0, 0])
  expect(processes.map(({ prepared }) => prepared)).toEqual([undefined, undefined, undefined])
  await clock.advance(3_000)
  expect(reloads.attempts).toBe(3)
  processes[1]!.failure = undefined
  await clock.advance(4_000)
  expect(served()).toEqual([1, 1, 1])
  expect(told).toEqual([[AWAY.reason, 1_000]])
  await clock.advance(600_000)
  expect(reloads.attempts).toBe(4)
})

it('waits longer each time, half a minute at most', async () => {
  const { clock, processes, configure, reloads } = world(1)
  processes[0]!.failure = AWAY
  await configure(1)
  await clock.advance(31_000)
  expect(reloads.attempts).toBe(6)
  await clock.advance(300_000)
  expect(reloads.attempts).toBe(16)
})

it('a newer reload takes the place of one that waits, at once', async () => {
  const { clock, processes, configure, served, reloads, told } = world(2)
  processes[0]!.failure = AWAY
  await configure(1)
  await clock.advance(20_000)
  await configure(2)
  expect(served()).toEqual([0, 0])
  // Whoever asks again is answered again.
  expect(told).toHaveLength(2)
  processes[0]!.failure = undefined
  await configure(3)
  expect(served()).toEqual([3, 3])
  const { attempts } = reloads
  await clock.advance(60_000)
  expect(reloads.attempts).toBe(attempts)
})

it('a config that cannot be used is not read again until somebody asks', async () => {
  const { clock, processes, configure, told, reloads } = world(2)
  processes[0]!.failure = AWAY
  processes[1]!.failure = BROKEN
  await configure(1)
  await clock.advance(600_000)
  expect(reloads.attempts).toBe(1)
  expect(told).toEqual([[BROKEN.reason, undefined]])
})

it('makes no attempt once it is closed, and serves none that was under way', async () => {
  const { clock, processes, configure, served, reloads } = world(1)
  processes[0]!.failure = AWAY
  await configure(1)
  reloads.close()
  await clock.advance(60_000)
  expect(reloads.attempts).toBe(1)
  const late = world(1)
  void late.configure(1)
  late.reloads.close()
  await late.clock.advance(0)
  expect(late.served()).toEqual([0])
  expect(served()).toEqual([0])
})
