import { EventEmitter } from 'node:events'
import { createInvalidationBus } from '@vinyasa/invalidation'
import { expect, test } from 'vitest'
import { createBusRelay } from '../src/commands/bus-relay.ts'
import type { Peer } from '../src/commands/bus-messages.ts'
import { createWorkerBus } from '../src/commands/worker-bus.ts'

function channel(): { first: Peer; worker: Peer } {
  const ends = [new EventEmitter(), new EventEmitter()] as const
  const end = (own: EventEmitter, other: EventEmitter): Peer => ({
    on: (event, listener) => own.on(event, listener),
    isConnected: () => true,
    send: (message) => queueMicrotask(() => other.emit('message', message)),
  })
  return { first: end(ends[0], ends[1]), worker: end(ends[1], ends[0]) }
}

test('publish resolves after the other workers have applied the events', async () => {
  const relay = createBusRelay()
  const [a, b] = [0, 1].map(() => {
    const { first, worker } = channel()
    relay.add(worker)
    return createWorkerBus(first, createInvalidationBus())
  })
  const seen: unknown[] = []
  b?.subscribe(async (events) => {
    await Promise.resolve()
    seen.push(...events)
  })
  const event = { entityType: 'User', operation: 'update' }
  await a?.publish([event])
  expect(seen).toEqual([event])
})
