import { array, assert, integer, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ReceivedBody } from '../src/http/client/received-body.ts'
import { createLedger, type HeldReply, LONG_REPLY_BYTES, ReplyMemory } from '@vinyasa/base'

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

describe('the memory of long replies', () => {
  it('holds no more than it may but for the oldest and a chunk of each, and all come to their end', () => {
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
          // The oldest always goes on, and so somebody does.
          if (!reading || readings[0]?.isPaused) stops++
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
          most = Math.max(
            most,
            readings.slice(1).reduce((sum, other) => sum + other.held, 0),
          )
        }
        expect(stops).toBe(0)
        expect(most).toBeLessThanOrEqual(maxBytes + CHUNK * sizes.length)
      }),
      { numRuns: 300 },
    )
  })

  it('is used again by the next replies, as far as a quarter of what may be held', () => {
    const memory = new ReplyMemory(createLedger(1e12), 4_000)
    const [first, second] = [memory.take(600), memory.take(600)]
    memory.give(first)
    memory.give(second)
    expect(memory.take(500)).toBe(first)
    expect(memory.take(500)).not.toBe(second)
    memory.give(first)
    expect(memory.take(100), 'not much larger than what it is for').not.toBe(first)
    expect(memory.take(601)).toHaveLength(601)
  })

  it('of a body is given back once, and holds nothing of it then', () => {
    const memory = new ReplyMemory(createLedger(1e12), 8 * LONG_REPLY_BYTES)
    const flow = { pause: () => {}, resume: () => {}, refuse: () => {} }
    for (const length of [String(2 * LONG_REPLY_BYTES), undefined]) {
      const seen = new Set<ArrayBufferLike>()
      for (let round = 0; round < 3; round++) {
        const body = new ReceivedBody(4 * LONG_REPLY_BYTES, undefined, memory)
        const half = Buffer.alloc(LONG_REPLY_BYTES, round)
        expect(body.add(half, length, flow) && body.add(half, length, flow)).toBe(true)
        const whole = body.whole()
        expect(whole.equals(Buffer.concat([half, half]))).toBe(true)
        expect(body.held).toBeDefined()
        seen.add(whole.buffer)
        body.release()
        body.release()
      }
      // Without a length nobody knows how large the buffer has to be.
      expect(seen.size).toBe(length === undefined ? 3 : 1)
    }
  })

  it('is none of short bodies', () => {
    const memory = new ReplyMemory(createLedger(1e12), 1)
    const body = new ReceivedBody(1_000, undefined, memory)
    const flow = {
      pause: () => expect.unreachable('a short body waits for nobody'),
      resume: () => {},
      refuse: () => {},
    }
    expect(body.add(Buffer.alloc(10), '20', flow) && body.add(Buffer.alloc(10), '20', flow)).toBe(true)
    expect(body.held).toBeUndefined()
  })
})
