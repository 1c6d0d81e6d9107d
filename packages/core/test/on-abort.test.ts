import { getEventListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, vi } from 'vitest'
import { onAbort, sleep, systemClock, unlessAborted } from '../src/index.ts'

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length

describe('onAbort', () => {
  it('calls each callback once and uses one listener', () => {
    const abort = new AbortController()
    const calls = Array.from({ length: 20 }, () => vi.fn<() => void>())
    for (const call of calls) onAbort(abort.signal, call)
    expect(listenersOf(abort.signal)).toBe(1)
    abort.abort()
    expect(calls.map(({ mock }) => mock.calls.length)).toEqual(calls.map(() => 1))
  })

  it('calls immediately if the signal has already aborted', () => {
    const call = vi.fn<() => void>()
    onAbort(AbortSignal.abort(), call)()
    expect(call).toHaveBeenCalledTimes(1)
  })

  it('removes the listener with the last callback and can subscribe again', () => {
    const abort = new AbortController()
    const [first, second] = [vi.fn<() => void>(), vi.fn<() => void>()]
    const letGo = [onAbort(abort.signal, first), onAbort(abort.signal, first)]
    for (const release of letGo) release()
    expect(listenersOf(abort.signal)).toBe(0)
    onAbort(abort.signal, second)
    // Unsubscribing again has no effect.
    letGo[0]?.()
    abort.abort()
    expect([first.mock.calls.length, second.mock.calls.length]).toEqual([0, 1])
  })

  it('does not call a callback that an earlier callback removes', () => {
    const abort = new AbortController()
    const late = vi.fn<() => void>()
    onAbort(abort.signal, () => letGo())
    const letGo = onAbort(abort.signal, late)
    abort.abort()
    expect(late).not.toHaveBeenCalled()
  })

  it('supports signals that are not extensible', () => {
    const abort = new AbortController()
    const call = vi.fn<() => void>()
    const signal = Object.preventExtensions(abort.signal)
    const letGo = onAbort(signal, call)
    onAbort(signal, call)
    letGo()
    abort.abort()
    expect(call).toHaveBeenCalledTimes(1)
  })

  it('calls the remaining callbacks if another callback is removed twice', () => {
    const abort = new AbortController()
    const [gone, call] = [vi.fn<() => void>(), vi.fn<() => void>()]
    const letGo = onAbort(abort.signal, gone)
    onAbort(abort.signal, call)
    letGo()
    letGo()
    abort.abort()
    expect([gone.mock.calls.length, call.mock.calls.length]).toEqual([0, 1])
  })

  it('does not keep combined signals in memory', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const { signal: ofServer } = new AbortController()
    let collected = 0
    const registry = new FinalizationRegistry(() => collected++)
    for (let index = 0; index < 100; index++) {
      const signal = AbortSignal.any([ofServer, new AbortController().signal])
      registry.register(signal, undefined)
      onAbort(signal, () => {})()
    }
    await expect.poll(() => (collect(), collected)).toBeGreaterThan(90)
  })
})

describe.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
  ['sleep', (signal) => sleep(systemClock, 60_000, signal)],
  ['unlessAborted', (signal) => unlessAborted(new Promise(() => {}), signal)],
])('%s', (_, wait) => {
  it('settles all promises when the signal aborts', async () => {
    const abort = new AbortController()
    const waits = Array.from({ length: 20 }, () => wait(abort.signal))
    expect(listenersOf(abort.signal)).toBe(1)
    abort.abort('left')
    expect(await Promise.allSettled(waits)).toHaveLength(20)
    expect(listenersOf(abort.signal)).toBe(0)
  })

  it('settles immediately if the signal has already aborted', async () => {
    expect(await Promise.allSettled([wait(AbortSignal.abort('left'))])).toHaveLength(1)
  })
})
