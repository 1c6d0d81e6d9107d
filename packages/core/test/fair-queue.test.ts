import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Callers, CLIENT, clientOf, FairQueue, ownerOf } from '../src/index.ts'

const of = (client: string): object => ({ [CLIENT]: client })

function drain(queue: FairQueue<string>): string[] {
  const order: string[] = []
  for (let item = queue.next(); item !== undefined; item = queue.next()) order.push(item)
  return order
}

describe('clientOf and ownerOf', () => {
  it.each([
    ['the client in the context', { [CLIENT]: 'ann' }, 'ann'],
    ['the client in the request of the context', { req: { [CLIENT]: 'ann' } }, 'ann'],
    [
      'a function in the request',
      { req: { [CLIENT]: ({ from }: { from: string }) => from, from: 'ann' } },
      'ann',
    ],
    ['null in the context', { [CLIENT]: null, req: { [CLIENT]: 'ann' } }, undefined],
    ['an empty client', { req: { [CLIENT]: () => '' } }, undefined],
    ['a context without a client', { req: {} }, undefined],
  ])('%s', (_, context, client) => {
    expect(clientOf(context)).toBe(client)
    expect(ownerOf(context)).toBe(client ?? context)
    expect(ownerOf(Object.create(context))).toSatisfy((owner) => client === undefined || owner === client)
    expect(clientOf({ ...context })).toBe(client)
  })

  it('returns undefined for work without an operation', () => {
    expect([undefined, null, 'text'].map(ownerOf)).toEqual([undefined, undefined, undefined])
  })
})

describe('FairQueue', () => {
  it('serves owners in turn and keeps the order of their items', () => {
    const queue = new FairQueue<string>()
    for (let call = 1; call <= 1_000; call++) queue.add(`ann ${call}`, of('ann'))
    for (const call of ['bob 1', 'bob 2']) queue.add(call, of('bob'))
    queue.add('nobody 1', undefined)
    expect(drain(queue).slice(0, 7)).toEqual([
      'ann 1',
      'bob 1',
      'nobody 1',
      'ann 2',
      'bob 2',
      'ann 3',
      'ann 4',
    ])
    expect(queue.size).toBe(0)
  })

  it('treats each context without a client as a separate owner', () => {
    const queue = new FairQueue<string>()
    const [one, other] = [{}, {}]
    for (const call of ['one 1', 'one 2', 'one 3']) queue.add(call, one)
    queue.add('other 1', other)
    expect(drain(queue)).toEqual(['one 1', 'other 1', 'one 2', 'one 3'])
  })

  it('removes deleted items immediately', () => {
    const queue = new FairQueue<string>()
    for (const call of ['ann 1', 'ann 2', 'ann 3']) queue.add(call, of('ann'))
    queue.delete('ann 2')
    queue.delete('ann 2')
    expect(queue.size).toBe(2)
    expect(drain(queue)).toEqual(['ann 1', 'ann 3'])
  })

  it('limits one owner to half of the places and keeps 16 for each new owner', () => {
    const queue = new FairQueue<string>(100)
    const enter = (client: string): number => {
      let entered = 0
      while (queue.add(`${client} ${entered}`, of(client))) entered++
      return entered
    }
    expect(enter('ann')).toBe(50)
    expect(enter('bob')).toBe(25)
    // The number of earlier owners does not matter.
    for (let other = 0; other < 20; other++) expect(enter(`other ${other}`)).toBe(16)
    while (queue.next() !== undefined);
    expect(enter('carol')).toBe(50)
  })

  it('removes a shared item at the first turn of its owners', () => {
    const queue = new FairQueue<string>()
    const shared = new Callers(of('ann'))
    for (let call = 1; call <= 100; call++) queue.add(`ann ${call}`, of('ann'))
    shared.join(of('before it waits'))
    queue.add('shared', shared)
    queue.add('bob 1', of('bob'))
    shared.join(of('carol'))
    shared.join(of('carol'))
    expect(queue.size).toBe(102)
    expect(drain(queue).slice(0, 4)).toEqual(['ann 1', 'shared', 'bob 1', 'ann 2'])
    // The shared item was already removed.
    shared.join(of('dora'))
    expect(queue.size).toBe(0)
    expect(queue.next()).toBeUndefined()
  })

  it('returns items in the same order as a simple model', () => {
    const owner = fc.constantFrom('a', 'b', 'c', 'd')
    const steps = fc.array(
      fc.oneof(
        fc.record({ add: owner }),
        fc.record({ join: owner, to: fc.nat(40) }),
        fc.record({ remove: fc.nat(40) }),
        fc.record({ take: fc.integer({ min: 1, max: 5 }) }),
      ),
      { maxLength: 120 },
    )
    fc.assert(
      fc.property(steps, (all) => {
        const queue = new FairQueue<number>()
        const callers = new Map<number, Callers>()
        let lines: { owner: string; items: number[] }[] = []
        const [taken, due]: [unknown[], unknown[]] = [[], []]
        let added = 0
        const enter = (owner: string, item: number): void => {
          const line = lines.find((one) => one.owner === owner)
          if (!line) lines.push({ owner, items: [item] })
          else if (!line.items.includes(item)) line.items.push(item)
        }
        const leave = (item: number): void => {
          for (const line of lines) line.items = line.items.filter((one) => one !== item)
          lines = lines.filter(({ items }) => items.length > 0)
        }
        for (const step of all) {
          if ('add' in step) {
            callers.set(added, new Callers(of(step.add)))
            queue.add(added, callers.get(added))
            enter(step.add, added++)
          } else if ('join' in step) {
            callers.get(step.to)?.join(of(step.join))
            if (lines.some(({ items }) => items.includes(step.to))) enter(step.join, step.to)
          } else if ('remove' in step) {
            queue.delete(step.remove)
            leave(step.remove)
          } else {
            for (let turn = 0; turn < step.take; turn++) {
              const [line] = lines
              const item = line?.items[0]
              taken.push(queue.next())
              due.push(item)
              if (!line || item === undefined) continue
              lines = [...lines.slice(1), line]
              leave(item)
            }
          }
          expect(queue.size).toBe(new Set(lines.flatMap(({ items }) => items)).size)
        }
        expect(taken).toEqual(due)
      }),
    )
  })
})
