import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { atWallTime, backgroundClock, sleep, systemClock } from '../src/index.ts'

const DAY_MS = 86_400_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe.each(Object.entries({ systemClock, backgroundClock }))('%s', (_, clock) => {
  it.each([2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 32, 60 * DAY_MS])('waits for exactly %d ms', (ms) => {
    const callback = vi.fn<() => void>()
    clock.setTimeout(callback, ms)
    vi.advanceTimersByTime(ms - 1)
    expect(callback).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(callback).toHaveBeenCalledTimes(1)
  })

  it.each([Number.MAX_SAFE_INTEGER, Infinity])('does not end a wait of %d ms within a year', (ms) => {
    const callback = vi.fn<() => void>()
    const timer = clock.setTimeout(callback, ms)
    vi.advanceTimersByTime(365 * DAY_MS)
    expect(callback).not.toHaveBeenCalled()
    clock.clearTimeout(timer)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('stops a long wait after its first timer', () => {
    const callback = vi.fn<() => void>()
    const timer = clock.setTimeout(callback, 60 * DAY_MS)
    vi.advanceTimersByTime(30 * DAY_MS)
    clock.clearTimeout(timer)
    vi.advanceTimersByTime(60 * DAY_MS)
    expect(callback).not.toHaveBeenCalled()
    clock.clearTimeout(undefined)
  })

  it.each([-3_600_000, -60_000, 60_000, 3_600_000])(
    'measures no time when the wall clock changes by %d ms',
    (step) => {
      const [now, wall] = [clock.now(), clock.wallNow()]
      vi.setSystemTime(Date.now() + step)
      expect(clock.now() - now).toBe(0)
      expect(clock.wallNow() - wall).toBe(step)
    },
  )
})

describe('atWallTime', () => {
  it.each([0, -5_000, 10, 90_000, 40 * DAY_MS])('calls once at a time in %d ms', (ms) => {
    const call = vi.fn<() => void>()
    atWallTime(systemClock, Date.now() + ms, call)
    expect(call).not.toHaveBeenCalled()
    vi.advanceTimersByTime(Math.max(0, ms - 1))
    expect(call).toHaveBeenCalledTimes(ms <= 0 ? 1 : 0)
    vi.advanceTimersByTime(2)
    expect(call).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(DAY_MS)
    expect(call).toHaveBeenCalledTimes(1)
  })

  it('follows the wall clock when it is set back or forward', () => {
    const late = vi.fn<() => void>()
    atWallTime(systemClock, Date.now() + 30_000, late)
    vi.setSystemTime(Date.now() - 3_600_000)
    vi.advanceTimersByTime(3_600_000)
    expect(late).not.toHaveBeenCalled()
    vi.advanceTimersByTime(30_001)
    expect(late).toHaveBeenCalledTimes(1)
    const soon = vi.fn<() => void>()
    atWallTime(systemClock, Date.now() + 3_600_000, soon)
    vi.setSystemTime(Date.now() + 3_600_000)
    vi.advanceTimersByTime(60_001)
    expect(soon).toHaveBeenCalledTimes(1)
  })

  it('clears its timer on stop', () => {
    const call = vi.fn<() => void>()
    atWallTime(systemClock, Date.now() + DAY_MS, call).stop()
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('sleep', () => {
  it('resolves after its time or on abort, and clears its timer', async () => {
    const abort = new AbortController()
    const long = sleep(systemClock, DAY_MS, abort.signal)
    abort.abort()
    await long
    await sleep(systemClock, DAY_MS, abort.signal)
    expect(vi.getTimerCount()).toBe(0)
    const short = sleep(systemClock, 10)
    vi.advanceTimersByTime(10)
    await short
  })
})
