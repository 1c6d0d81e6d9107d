import { afterEach, describe, expect, it, vi } from 'vitest'
import { onScriptShellEnd } from '../src/index.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** How often a process is told, whose parent ends after a second. */
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

describe('the end of the shell of a script', () => {
  it('is told once to what a package manager runs', () => {
    vi.stubEnv('npm_lifecycle_event', 'start')
    expect(watch()).toBe(1)
  })

  it('is no business of a process that was started otherwise', () => {
    vi.stubEnv('npm_lifecycle_event', undefined)
    expect(watch()).toBe(0)
  })
})
