import * as fc from 'fast-check'
import { createFakeClock } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { createSendBudget, type SocketBudget } from '../src/protocol/send-budget.ts'

it('all sockets together hold no more than the budget and a message each, whatever they send and read', () => {
  const steps = fc.array(
    fc.record({
      socket: fc.nat({ max: 5 }),
      does: fc.constantFrom('send', 'send', 'send', 'read', 'leave'),
      bytes: fc.integer({ min: 1, max: 100 }),
    }),
    { maxLength: 300 },
  )
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 500 }), (given, inAll) => {
      const budget = createSendBudget({ perSocket: 1_000, inAll, clock: createFakeClock() })
      const sockets: { share: SocketBudget; waiting: number[] }[] = []
      for (const { socket, does, bytes } of given) {
        const open = (sockets[socket] ??= { share: budget.open(() => {}), waiting: [] })
        const leave = (): void => {
          open.share.close()
          for (const size of open.waiting) open.share.sent(size)
          delete sockets[socket]
        }
        switch (does) {
          case 'send':
            if (open.share.isOver()) leave()
            else {
              open.share.wait(bytes)
              open.waiting.push(bytes)
            }
            break
          case 'read': {
            const size = open.waiting.shift()
            if (size !== undefined) open.share.sent(size)
            break
          }
          case 'leave':
            leave()
        }
        const held = sockets.flatMap(({ waiting }) => waiting).reduce((sum, size) => sum + size, 0)
        // Each may add one message over its part.
        expect(held).toBeLessThanOrEqual(2 * inAll + 6 * 100)
      }
    }),
  )
})

it('a socket over its limit is cut off once nothing has left for a second', async () => {
  const clock = createFakeClock()
  let cut = 0
  const share = createSendBudget({ perSocket: 10, inAll: 1_000, clock }).open(() => cut++)
  share.wait(5)
  share.wait(20)
  await clock.advance(900)
  share.sent(5)
  await clock.advance(900)
  expect(cut).toBe(0)
  await clock.advance(1_000)
  expect(cut).toBe(1)
})
