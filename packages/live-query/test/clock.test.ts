import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { systemClock } from '../src/clock.ts'

const DAY_MS = 86_400_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('waits as long as it was told, beyond the longest timer of the platform', () => {
  const callback = vi.fn<() => void>()
  systemClock.setTimeout(callback, 60 * DAY_MS)
  vi.advanceTimersByTime(60 * DAY_MS - 1)
  expect(callback).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(callback).toHaveBeenCalledTimes(1)
})

it('stops a long wait in any part of it', () => {
  const callback = vi.fn<() => void>()
  const timer = systemClock.setTimeout(callback, 60 * DAY_MS)
  vi.advanceTimersByTime(30 * DAY_MS)
  systemClock.clearTimeout(timer)
  vi.advanceTimersByTime(60 * DAY_MS)
  expect(callback).not.toHaveBeenCalled()
  systemClock.clearTimeout(undefined)
})
