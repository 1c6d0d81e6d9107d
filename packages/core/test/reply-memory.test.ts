import { array, assert, integer, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLedger, type HeldReply, ReplyMemory } from '../src/index.ts'

const CHUNK = 3

interface Reading {
  readonly reply: HeldReply
  isPaused: boolean
  held: number
  left: number
}

function enter(memory: ReplyMemory, left: number): Reading {
  const reading: { -readonly [Key in keyof Reading]: Reading[Key] } = {
    reply: undefined as unknown as HeldReply,
    isPaused: false,
    held: 0,
    left,
  }
  reading.reply = memory.enter(undefined, {
    pause: () => (reading.isPaused = true),
    resume: () => (reading.isPaused = false),
    refuse: () => {},
  })
  return reading
}

describe('ReplyMemory', () => {
  it('allows one reply to exceed the limit by more than a chunk, and all replies finish', () => {
    const replies = array(integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 })
    const given = record({
      sizes: replies,
      maxBytes: integer({ min: 1, max: 60 }),
      picks: array(integer({ min: 0 })),
    })
    assert(
      property(given, ({ sizes, maxBytes, picks }) => {
        const memory = new ReplyMemory(createLedger(1e12), maxBytes)
        const readings = sizes.map((size) => enter(memory, size))
        let most = 0
        let stops = 0
        for (let turn = 0; readings.length > 0; turn++) {
          const going = readings.filter(({ isPaused }) => !isPaused)
          const reading = going[(picks[turn] ?? turn) % going.length]
          if (!reading) stops++
          if (!reading) break
          if (reading.left === 0) {
            readings.splice(readings.indexOf(reading), 1)
            reading.reply.leave()
            reading.reply.leave()
            continue
          }
          const chunk = Math.min(CHUNK, reading.left)
          reading.held += chunk
          reading.left -= chunk
          reading.reply.add(chunk)
          const all = readings.map(({ held }) => held)
          most = Math.max(most, all.reduce((sum, held) => sum + held, 0) - Math.max(...all))
        }
        expect(stops).toBe(0)
        expect(most).toBeLessThanOrEqual(maxBytes + CHUNK * sizes.length)
      }),
      { numRuns: 300 },
    )
  })

  it('limits one owner to half of the bytes and resumes the owner with the least memory first', () => {
    const MIB = 1024 * 1024
    const memory = new ReplyMemory(createLedger(1e12), 16 * MIB)
    const paused = new Set<string>()
    const replyOf = (owner: string, name: string, bytes: number): HeldReply => {
      const reply = memory.enter(owner, {
        pause: () => paused.add(name),
        resume: () => paused.delete(name),
        refuse: () => {},
      })
      reply.add(bytes)
      return reply
    }
    const first = replyOf('many', 'first', 6 * MIB)
    const others = [2, 3, 4].map((n) => replyOf('many', `${n}`, 4 * MIB))
    expect(paused, 'the last reply exceeds the limit and continues').toEqual(new Set())
    for (const reply of others) reply.add(1)
    expect(paused).toEqual(new Set(['3']))
    first.add(1)
    expect(paused).toEqual(new Set(['3', 'first']))
    const one = replyOf('one', 'one', MIB)
    expect(paused, 'another owner can use the other half').toEqual(new Set(['3', 'first']))
    replyOf('two', 'two', 2 * MIB)
    replyOf('three', 'three', 2 * MIB)
    replyOf('four', 'four', MIB)
    expect(paused).toEqual(new Set(['3', 'first', 'three', 'four']))
    one.leave()
    expect(paused).toEqual(new Set(['3', 'first', 'three']))
  })

  it('reuses buffers up to a quarter of the limit', () => {
    const memory = new ReplyMemory(createLedger(1e12), 4_000)
    const [first, second] = [memory.take(600), memory.take(600)]
    memory.give(first)
    memory.give(second)
    expect(memory.take(500)).toBe(first)
    expect(memory.take(500)).not.toBe(second)
    memory.give(first)
    expect(memory.take(100), 'the buffer is much larger than required').not.toBe(first)
    expect(memory.take(601)).toHaveLength(601)
  })

  it('refuses the replies of the owner with the most memory when the ledger is full', () => {
    const ledger = createLedger(1_000)
    const memory = new ReplyMemory(ledger, 500)
    const refused: string[] = []
    const replyOf = (owner: string): HeldReply =>
      memory.enter(owner, { pause: () => {}, resume: () => {}, refuse: () => refused.push(owner) })
    replyOf('large').add(600)
    replyOf('small').add(100)
    ledger.hold('other', 350)
    expect(refused).toEqual(['large'])
    expect(ledger.bytes).toBe(450)
  })
})
