import { getEventListeners } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import {
  Ending,
  ENDING,
  endingOf,
  hasLeft,
  onAbort,
  signalOf,
  sleep,
  systemClock,
  unlessAborted,
} from '../src/index.ts'

const times = (call: () => void): number => vi.mocked(call).mock.calls.length

describe('Ending', () => {
  it('calls each callback once, and ends sleep and unlessAborted', async () => {
    const ending = new Ending()
    const call = vi.fn<() => void>()
    // A function can be added several times.
    for (let index = 0; index < 3; index++) onAbort(ending, call)
    const slept = sleep(systemClock, 60_000, ending)
    const left = unlessAborted(new Promise(() => {}), ending)
    ending.abort('left')
    ending.abort('again')
    expect(times(call)).toBe(3)
    await expect(left).rejects.toBe('left')
    await slept
    expect([ending.aborted, ending.reason]).toEqual([true, 'left'])
  })

  it('calls immediately if it has already aborted', () => {
    const ending = new Ending()
    ending.abort()
    const call = vi.fn<() => void>()
    onAbort(ending, call)()
    expect(times(call)).toBe(1)
  })

  it('does not call removed callbacks, also if an earlier callback removes them', () => {
    const ending = new Ending()
    const [gone, late] = [vi.fn<() => void>(), vi.fn<() => void>()]
    onAbort(ending, gone)()
    onAbort(ending, () => letGo())
    const letGo = onAbort(ending, late)
    ending.abort()
    expect([times(gone), times(late)]).toEqual([0, 0])
  })

  it('uses the default reason of AbortSignal', () => {
    const ending = new Ending()
    ending.abort()
    const signal = AbortSignal.abort()
    expect(ending.reason).toEqual(signal.reason)
    expect((ending.reason as Error).name).toBe('AbortError')
  })

  it.each(['before', 'after'])('provides an AbortSignal that is requested %s the abort', (when) => {
    const ending = new Ending()
    if (when === 'after') ending.abort('left')
    const { signal } = ending
    ending.abort('left')
    expect(signal).toBeInstanceOf(AbortSignal)
    expect([signal, signal.aborted, signal.reason]).toEqual([ending.signal, true, 'left'])
    expect(signalOf(ending)).toBe(signal)
  })
})

describe('endingOf', () => {
  it('returns the Ending of a request without reading its signal', () => {
    const ending = new Ending()
    const request = {
      [ENDING]: ending,
      get signal(): AbortSignal {
        return expect.unreachable('the signal was read')
      },
    }
    expect(endingOf(request)).toBe(ending)
  })

  it('returns a signal of any class', () => {
    const { signal } = new AbortController()
    const own = { aborted: false, addEventListener() {} }
    expect(endingOf({ signal })).toBe(signal)
    expect(endingOf({ signal: own })).toBe(own)
    onAbort(endingOf({ signal }) as AbortSignal, () => {})
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  })

  it('hasLeft returns whether the request of a context was aborted', () => {
    const ending = new Ending()
    const contexts = [{ request: { [ENDING]: ending } }, { request: {} }, {}, undefined]
    expect(contexts.map(hasLeft)).toEqual([false, false, false, false])
    ending.abort()
    expect(contexts.map(hasLeft)).toEqual([true, false, false, false])
  })

  it.each([undefined, null, 'text', {}, { signal: undefined }, { signal: 'text' }, { signal: {} }])(
    'returns undefined for %j',
    (request) => {
      expect(endingOf(request)).toBeUndefined()
    },
  )
})
