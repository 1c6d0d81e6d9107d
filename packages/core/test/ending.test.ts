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
  it('calls all who wait, once each, whatever waits for it', async () => {
    const ending = new Ending()
    const call = vi.fn<() => void>()
    // One function may wait several times.
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

  it('calls at once where it is over', () => {
    const ending = new Ending()
    ending.abort()
    const call = vi.fn<() => void>()
    onAbort(ending, call)()
    expect(times(call)).toBe(1)
  })

  it('calls nobody who was let go, not by one that is called before either', () => {
    const ending = new Ending()
    const [gone, late] = [vi.fn<() => void>(), vi.fn<() => void>()]
    onAbort(ending, gone)()
    onAbort(ending, () => letGo())
    const letGo = onAbort(ending, late)
    ending.abort()
    expect([times(gone), times(late)]).toEqual([0, 0])
  })

  it('has the reason of a signal where none is given', () => {
    const ending = new Ending()
    ending.abort()
    const signal = AbortSignal.abort()
    expect(ending.reason).toEqual(signal.reason)
    expect((ending.reason as Error).name).toBe('AbortError')
  })

  it.each(['before', 'after'])('has a true signal for whoever asks %s it is over', (when) => {
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
  it('takes the ending of a request, and asks for no signal then', () => {
    const ending = new Ending()
    const request = {
      [ENDING]: ending,
      get signal(): AbortSignal {
        return expect.unreachable('nobody needs a signal')
      },
    }
    expect(endingOf(request)).toBe(ending)
  })

  it('takes the signal of another, of whatever class', () => {
    const { signal } = new AbortController()
    const own = { aborted: false, addEventListener() {} }
    expect(endingOf({ signal })).toBe(signal)
    expect(endingOf({ signal: own })).toBe(own)
    onAbort(endingOf({ signal }) as AbortSignal, () => {})
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  })

  it('tells by a context whether its client has left', () => {
    const ending = new Ending()
    const contexts = [{ request: { [ENDING]: ending } }, { request: {} }, {}, undefined]
    expect(contexts.map(hasLeft)).toEqual([false, false, false, false])
    ending.abort()
    expect(contexts.map(hasLeft)).toEqual([true, false, false, false])
  })

  it.each([undefined, null, 'text', {}, { signal: undefined }, { signal: 'text' }, { signal: {} }])(
    'finds none in %j',
    (request) => {
      expect(endingOf(request)).toBeUndefined()
    },
  )
})
