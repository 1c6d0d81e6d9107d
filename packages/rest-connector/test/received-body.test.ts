import { array, assert, constantFrom, integer, property, uint8Array } from 'fast-check'
import { expect, it } from 'vitest'
import { ReceivedBody } from '../src/http/client/received-body.ts'
import { createLedger, ReplyMemory } from '@vinyasa/base'

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
        const received = new ReceivedBody(maxBytes, undefined, new ReplyMemory(createLedger(1e12), 100))
        const length = said === 'exact' ? String(whole.length) : said
        const isTaken = pieces.every((piece) => received.add(Buffer.from(piece), length, FLOW))
        expect(isTaken).toBe(whole.length <= maxBytes)
        expect(!isTaken || received.whole().equals(whole)).toBe(true)
      },
    ),
    { numRuns: 5_000 },
  )
})
