import { describe, expect, it } from 'vitest'
import { createInvalidationBus } from '../src/index.ts'

const event = { entityType: 'User', operation: 'update', entityId: '1' } as const

describe('createInvalidationBus', () => {
  it('delivers a batch whole to every listener and awaits them', async () => {
    const bus = createInvalidationBus()
    const seen: unknown[] = []
    bus.subscribe(async (events) => {
      await Promise.resolve()
      seen.push(events)
    })
    bus.subscribe((events) => void seen.push(events))
    await bus.publish([event, { entityType: 'Product', operation: 'create' }])
    expect(seen).toEqual([
      [event, { entityType: 'Product', operation: 'create' }],
      [event, { entityType: 'Product', operation: 'create' }],
    ])
  })

  it('finishes every listener of a phase before the first of the next, whatever the order of subscription', async () => {
    const bus = createInvalidationBus()
    const order: string[] = []
    bus.subscribe(() => void order.push('react'))
    for (const phase of ['evict', 'forget'] as const)
      bus.subscribe(
        async () => {
          await new Promise((resolve) => setImmediate(resolve))
          order.push(phase)
        },
        { phase },
      )
    await bus.publish([event])
    expect(order).toEqual(['forget', 'evict', 'react'])
  })

  it('reports a failing listener to onError and still runs the others', async () => {
    const errors: unknown[] = []
    const bus = createInvalidationBus({ onError: (error) => errors.push(error) })
    const failure = new Error('listener failed')
    let reached = 0
    bus.subscribe(() => Promise.reject(failure), { phase: 'evict' })
    bus.subscribe(() => {
      throw failure
    })
    bus.subscribe(() => void reached++)
    await bus.publish([event])
    expect(errors).toEqual([failure, failure])
    expect(reached).toBe(1)
  })

  it('takes an empty id for none: the whole type', async () => {
    const bus = createInvalidationBus()
    const seen: unknown[] = []
    bus.subscribe((events) => void seen.push(...events))
    await bus.publish([event, { ...event, entityId: '' }])
    expect(seen).toStrictEqual([event, { entityType: 'User', operation: 'update' }])
  })

  it('stops delivering after the returned function was called, one subscription at a time', async () => {
    const bus = createInvalidationBus()
    let calls = 0
    const listener = (): void => void calls++
    const first = bus.subscribe(listener)
    bus.subscribe(listener)
    first()
    first()
    await bus.publish([event])
    expect(calls).toBe(1)
  })

  it('does not call listeners for an empty batch', async () => {
    const bus = createInvalidationBus()
    let calls = 0
    bus.subscribe(() => void calls++)
    await bus.publish([])
    expect(calls).toBe(0)
  })
})
