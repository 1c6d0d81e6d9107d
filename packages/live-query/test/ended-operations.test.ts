import { createSchema } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { startLive, subscribe, type LiveSetup } from './support.ts'

let setup: LiveSetup
afterEach(() => setup.close())

/** Ways in which an operation ends after its client has ended it. `open` lets it go on. */
interface Late {
  /** Resolves when the old operation is under way. */
  readonly started: Promise<void>
  readonly open: () => void
}

async function startLate(): Promise<Late> {
  let open = (): void => {}
  let start = (): void => {}
  const gate = new Promise<void>((resolve) => (open = resolve))
  const started = new Promise<void>((resolve) => (start = resolve))
  const wait = async (): Promise<void> => {
    start()
    await gate
  }
  const typeDefs = /* GraphQL */ `
    type Query {
      fails: String
      late: String
      new: String
    }
    type Subscription {
      throws: String
      gives: String
      refused: String
    }
  `
  const fail = async (): Promise<never> => {
    await wait()
    throw new Error('of the old one')
  }
  setup = await startLive({
    realTime: true,
    plugin: { fields: {}, defaults: { enabled: true } },
    yoga: {
      schema: createSchema({
        typeDefs,
        resolvers: {
          Query: {
            fails: fail,
            late: async () => {
              await wait()
              return 'of the old one'
            },
            new: () => 'of the new one',
          },
          Subscription: {
            throws: {
              subscribe: async function* () {
                await fail()
                yield {}
              },
            },
            gives: {
              subscribe: async function* () {
                await wait()
                yield { gives: 'of the old one' }
                yield { gives: 'of the old one' }
              },
            },
            refused: { subscribe: fail },
          },
        },
      }),
    },
  })
  return { started, open }
}

describe('an operation that its client has ended says nothing more', () => {
  const OLD = [
    'subscription { throws }',
    'subscription { gives }',
    'subscription { refused }',
    '{ fails }',
    '{ late }',
    'query @live { fails }',
    'query @live { late }',
  ]
  const reused = OLD.flatMap((query) =>
    ['{ new }', '{ nope }', 'query @live { new }'].map((next) => [query, next]),
  )

  it.each(reused)('%s, its id used again for %s', async (query, next) => {
    const { started, open } = await startLate()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', query))
    await started
    socket.sendJson({ id: 'a', type: 'complete' })
    socket.sendJson(subscribe('a', next))
    socket.sendJson({ type: 'ping' })
    await expect.poll(() => socket.frames.some((frame) => frame.json().type === 'pong')).toBe(true)
    open()
    await expect
      .poll(() => socket.frames.filter((frame) => frame.json().id === 'a').length)
      .toBeGreaterThan(0)
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    const texts = socket.frames.map((frame) => JSON.stringify(frame.json()))
    expect(texts.filter((text) => text.includes('of the old one') || text.includes('aborted'))).toEqual([])
    const types = socket.frames.map((frame) => frame.json()).filter(({ id }) => id === 'a')
    const expected = { '{ new }': ['next', 'complete'], '{ nope }': ['error'] }[next!] ?? ['next']
    expect(types.map(({ type }) => type)).toEqual(expected)
  })

  it.each(OLD)('%s, its id not used again', async (query) => {
    const { started, open } = await startLate()
    const socket = await setup.ready()
    socket.sendJson(subscribe('a', query))
    await started
    socket.sendJson({ id: 'a', type: 'complete' })
    socket.sendJson({ type: 'ping' })
    await expect.poll(() => socket.frames.some((frame) => frame.json().type === 'pong')).toBe(true)
    open()
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(socket.frames.map((frame) => frame.json()).filter(({ id }) => id === 'a')).toEqual([])
  })
})
