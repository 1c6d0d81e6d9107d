import { createFakeClock } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'
import { createStartGate } from '../src/execution/streaming-run.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))
async function turns(count: number): Promise<void> {
  for (let index = 0; index < count; index++) await turn()
}

function createGate() {
  const started: string[] = []
  const clock = createFakeClock()
  return { gate: createStartGate<string>(clock, (works) => started.push(...works)), started, clock }
}

describe('the gate before deferred work', () => {
  it('holds everything until the first part is taken, and lets it be written before work starts', async () => {
    const { gate, started } = createGate()
    gate.enter('a')
    gate.enter('b')
    await turns(10)
    expect(started).toEqual([])
    gate.open()
    await turn()
    expect(started).toEqual([])
    await turns(2)
    expect(started).toEqual(['a', 'b'])
  })

  it('lets what is finished be written before work that was found meanwhile starts', async () => {
    const { gate, started } = createGate()
    gate.open()
    gate.enter('nested')
    await turn()
    expect(started).toEqual([])
    await turns(2)
    expect(started).toEqual(['nested'])
  })

  it('opens a little beside first fields that take their time: a piece a turn', async () => {
    const { gate, started, clock } = createGate()
    gate.enter('a')
    gate.enter('b')
    gate.openSoon()
    await clock.advance(4)
    expect(started).toEqual([])
    const advanced = clock.advance(1)
    await turns(3)
    expect(started.length).toBeLessThan(2)
    await advanced
    await turns(5)
    expect(started).toEqual(['a', 'b'])
  })

  it('closed, starts nothing and leaves no timer', async () => {
    const { gate, started, clock } = createGate()
    gate.openSoon()
    gate.enter('a')
    gate.close()
    gate.open()
    gate.enter('b')
    await turns(10)
    expect(started).toEqual([])
    expect(clock.pending()).toBe(0)
  })
})
