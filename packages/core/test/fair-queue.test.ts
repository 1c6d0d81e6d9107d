import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Callers, CLIENT, clientOf, FairQueue, ownerOf } from '../src/index.ts'

const of = (client: string): object => ({ [CLIENT]: client })

function drain(queue: FairQueue<string>): string[] {
  const order: string[] = []
  for (let item = queue.next(); item !== undefined; item = queue.next()) order.push(item)
  return order
}

describe('whose work it is', () => {
  it.each([
    ['the client that the context names', { [CLIENT]: 'ann' }, 'ann'],
    ['the client that the request behind it names', { req: { [CLIENT]: 'ann' } }, 'ann'],
    [
      'a function of that request',
      { req: { [CLIENT]: ({ from }: { from: string }) => from, from: 'ann' } },
      'ann',
    ],
    [
      'nobody in particular, where the context says so',
      { [CLIENT]: null, req: { [CLIENT]: 'ann' } },
      undefined,
    ],
    ['nobody, of a request whose address is gone', { req: { [CLIENT]: () => '' } }, undefined],
    ['nobody, of a context that says nothing', { req: {} }, undefined],
  ])('%s', (_, context, client) => {
    expect(clientOf(context)).toBe(client)
    expect(ownerOf(context)).toBe(client ?? context)
    expect(ownerOf(Object.create(context))).toSatisfy((owner) => client === undefined || owner === client)
    expect(clientOf({ ...context })).toBe(client)
  })

  it('what no operation asks for is nobody’s', () => {
    expect([undefined, null, 'text'].map(ownerOf)).toEqual([undefined, undefined, undefined])
  })
})

describe('the queue', () => {
  it('serves owners in turn, and each in its own order', () => {
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

  it('counts operations for themselves where nobody says whose they are', () => {
    const queue = new FairQueue<string>()
    const [one, other] = [{}, {}]
    for (const call of ['one 1', 'one 2', 'one 3']) queue.add(call, one)
    queue.add('other 1', other)
    expect(drain(queue)).toEqual(['one 1', 'other 1', 'one 2', 'one 3'])
  })

  it('forgets at once what waits no longer', () => {
    const queue = new FairQueue<string>()
    for (const call of ['ann 1', 'ann 2', 'ann 3']) queue.add(call, of('ann'))
    queue.delete('ann 2')
    queue.delete('ann 2')
    expect(queue.size).toBe(2)
    expect(drain(queue)).toEqual(['ann 1', 'ann 3'])
  })

  it('gives one owner half of the places, and always has some for who comes', () => {
    const queue = new FairQueue<string>(100)
    const enter = (client: string): number => {
      let entered = 0
      while (queue.add(`${client} ${entered}`, of(client))) entered++
      return entered
    }
    expect(enter('ann')).toBe(50)
    expect(enter('bob')).toBe(25)
    // However many have come before.
    for (let other = 0; other < 20; other++) expect(enter(`other ${other}`)).toBe(16)
    while (queue.next() !== undefined);
    expect(enter('carol')).toBe(50)
  })

  it('gives shared work the first turn of those who ask for it', () => {
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
    // It is over.
    shared.join(of('dora'))
    expect(queue.size).toBe(0)
    expect(queue.next()).toBeUndefined()
  })

  it('holds what a list by turns would, whatever comes, goes and joins', () => {
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
