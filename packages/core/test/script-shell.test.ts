import { afterEach, describe, expect, it, vi } from 'vitest'
import { onScriptShellEnd } from '../src/index.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Returns the number of calls for a process whose parent ends after a second. */
function watch(): number {
  vi.useFakeTimers()
  const onEnd = vi.fn()
  const parent = vi.spyOn(process, 'ppid', 'get').mockReturnValue(100)
  onScriptShellEnd(onEnd)
  vi.advanceTimersByTime(1_000)
  expect(onEnd).not.toHaveBeenCalled()
  parent.mockReturnValue(1)
  vi.advanceTimersByTime(10_000)
  return onEnd.mock.calls.length
}

describe('onScriptShellEnd', () => {
  it('calls back once in a script of a package manager', () => {
    vi.stubEnv('npm_lifecycle_event', 'start')
    expect(watch()).toBe(1)
  })

  it('does not call back in other processes', () => {
    vi.stubEnv('npm_lifecycle_event', undefined)
    expect(watch()).toBe(0)
  })
})
