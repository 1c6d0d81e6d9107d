import { createLedger, LONG_REPLY_BYTES, ReplyMemory } from '@vinyasa/core'
import { array, assert, constantFrom, integer, property, uint8Array } from 'fast-check'
import { expect, it } from 'vitest'
import { ReceivedBody } from '../src/http/client/received-body.ts'

const FLOW = { pause: () => {}, resume: () => {}, refuse: () => {} }

// Lengths that are missing, wrong, too large or no numbers: a dispatcher before the client may have unpacked the body.
it('is what came, whatever length was said, up to its bound', () => {
  assert(
    property(
      array(uint8Array({ maxLength: 20 }), { maxLength: 6 }),
      constantFrom(undefined, 'exact', '0', '3', '1000', 'x', ['7', '7']),
      integer({ min: 0, max: 60 }),
      (pieces, said, maxBytes) => {
        const whole = Buffer.concat(pieces)
        const received = new ReceivedBody(maxBytes, new ReplyMemory(createLedger(1e12), 100))
        const length = said === 'exact' ? String(whole.length) : said
        const isTaken = pieces.every((piece) => received.add(Buffer.from(piece), length, FLOW))
        expect(isTaken).toBe(whole.length <= maxBytes)
        expect(!isTaken || received.whole().equals(whole)).toBe(true)
      },
    ),
    { numRuns: 5_000 },
  )
})

it('frees the memory of a long body once', () => {
  const ledger = createLedger(1e12)
  const memory = new ReplyMemory(ledger, 8 * LONG_REPLY_BYTES)
  for (const length of [String(2 * LONG_REPLY_BYTES), undefined]) {
    const seen = new Set<ArrayBufferLike>()
    for (let round = 0; round < 3; round++) {
      const body = new ReceivedBody(4 * LONG_REPLY_BYTES, memory)
      const half = Buffer.alloc(LONG_REPLY_BYTES, round)
      expect(body.add(half, length, FLOW) && body.add(half, length, FLOW)).toBe(true)
      const whole = body.whole()
      expect(whole.equals(Buffer.concat([half, half]))).toBe(true)
      expect(body.isLong).toBe(true)
      expect(ledger.bytes).toBe(2 * LONG_REPLY_BYTES)
      seen.add(whole.buffer)
      body.release()
      body.release()
      expect(ledger.bytes).toBe(0)
    }
    // Without a length it is not known how large the buffer has to be.
    expect(seen.size).toBe(length === undefined ? 3 : 1)
  }
})

it('does not count short bodies', () => {
  const ledger = createLedger(1e12)
  const body = new ReceivedBody(1_000, new ReplyMemory(ledger, 1))
  expect(body.add(Buffer.alloc(10), '20', FLOW) && body.add(Buffer.alloc(10), '20', FLOW)).toBe(true)
  expect(body.isLong).toBe(false)
  expect(ledger.bytes).toBe(0)
})

it.each([
  { size: 1, count: 4_000, isShredded: false },
  { size: 1, count: 4_001, isShredded: true },
  { size: 15, count: 20_000, isShredded: true },
  { size: 16, count: 20_000, isShredded: false },
])('$count chunks of $size bytes: shredded is $isShredded', ({ size, count, isShredded }) => {
  const body = new ReceivedBody(1e9, new ReplyMemory(createLedger(1e12), 1e9))
  const chunk = Buffer.alloc(size)
  for (let sent = 0; sent < count; sent++) body.add(chunk, undefined, FLOW)
  expect(body.isShredded).toBe(isShredded)
})
