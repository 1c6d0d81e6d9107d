import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { answerHeartbeat, watchHeartbeat, type Watched } from '../src/workers/heartbeat.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A worker whose messages are answered while `lives()` says so. */
function startWorker(lives: () => boolean): Watched {
  const here = new EventEmitter()
  const there = Object.assign(new EventEmitter(), {
    send: (message: object) => here.emit('message', message),
  })
  answerHeartbeat(there)
  return Object.assign(here, {
    process: { pid: 1 },
    isConnected: () => true,
    send: (message: object) => lives() && there.emit('message', message),
  })
}

describe('a worker that', () => {
  it.each([
    ['answers', true, undefined, Infinity],
    ['was stopped', false, true, 3_000],
    ['is silent where nobody knows why', false, undefined, 3_000],
    ['computes', false, false, 31_000],
  ])('%s is given up in time', (_what, lives, isStopped, withinMs) => {
    const onSilent = vi.fn()
    const from = Date.now()
    let at = Infinity
    onSilent.mockImplementation(() => (at = Date.now() - from))
    const end = watchHeartbeat(
      startWorker(() => lives),
      { onSilent, isStopped: () => isStopped },
    )
    vi.advanceTimersByTime(100_000)
    expect(at).toBeLessThanOrEqual(withinMs)
    expect(onSilent).toHaveBeenCalledTimes(lives ? 0 : 1)
    end()
  })

  it('computes for a while lives on', () => {
    const onSilent = vi.fn()
    let turn = 0
    const end = watchHeartbeat(
      startWorker(() => turn++ % 30 === 29),
      { onSilent, isStopped: () => false },
    )
    vi.advanceTimersByTime(100_000)
    expect(onSilent).not.toHaveBeenCalled()
    end()
    expect(vi.getTimerCount()).toBe(0)
  })
})
