import { connect, type Socket } from 'node:net'
import { waitUntil } from '@vinyasa/test-kit'
import { createSchema } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { bytesOf, graphql, openDoors, type YogaOptions } from './doors.ts'

/** A server whose resolver waits for the client to leave, and tells how that came to pass. */
function waiting(seen: string[], look: 'at once' | 'late'): () => YogaOptions {
  return () => ({
    schema: createSchema<any>({
      typeDefs: 'type Query { wait: String }',
      resolvers: {
        Query: {
          wait: async (_root: unknown, _args: unknown, { request, req, res }: any) => {
            seen.push('started')
            if (look === 'late') await new Promise((resolve) => res.once('close', resolve))
            const { signal } = request as Request
            if (!signal.aborted) {
              await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
            }
            seen.push(`${signal.aborted} ${signal.reason?.name} ${req.aborted}`)
            return 'never sent'
          },
        },
      },
    }),
  })
}

function send(url: string, bytes: Buffer): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(bytes)
  return socket
}

describe.each(['yoga', 'thin'] as const)('behind the door "%s"', (door) => {
  it.each(['at once', 'late'] as const)(
    'request.signal, read %s, aborts when the client leaves',
    async (look) => {
      const seen: string[] = []
      // Yoga makes its signal before it is asked for one.
      const doors = await openDoors(waiting(seen, look))
      const socket = send(doors[door], bytesOf({ body: graphql('{ wait }') }))
      await waitUntil(() => seen.length === 1)
      socket.destroy()
      await waitUntil(() => seen.length === 2)
      expect(seen).toEqual(['started', 'true AbortError true'])
    },
  )

  it('a client that leaves in the middle of its body starts nothing and breaks nothing', async () => {
    const seen: string[] = []
    const doors = await openDoors(waiting(seen, 'at once'))
    const bytes = bytesOf({ body: graphql('{ wait }') })
    const socket = send(doors[door], bytes.subarray(0, bytes.length - 5))
    await new Promise((resolve) => setTimeout(resolve, 50))
    socket.destroy()
    const next = send(doors[door], bytes)
    await waitUntil(() => seen.length === 1)
    next.destroy()
    await waitUntil(() => seen.length === 2)
    expect(seen).toEqual(['started', 'true AbortError true'])
  })

  it('the signal does not abort after an answer', async () => {
    const signals: AbortSignal[] = []
    const doors = await openDoors(() => ({
      plugins: [{ onRequest: ({ request }: { request: Request }) => void signals.push(request.signal) }],
    }))
    const socket = send(doors[door], bytesOf({ body: graphql('{ hello }') }))
    socket.resume()
    await new Promise((resolve) => socket.once('close', resolve))
    await new Promise((resolve) => setImmediate(resolve))
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  })

  it('a subscriber that reads nothing holds the source back, and ends it by leaving', async () => {
    let produced = 0
    let ended = false
    const doors = await openDoors(() => ({
      schema: createSchema<any>({
        typeDefs: 'type Query { a: Int } type Subscription { flood: String }',
        resolvers: {
          Subscription: {
            flood: {
              async *subscribe() {
                try {
                  for (; produced < 20_000; produced++) yield { flood: 'x'.repeat(10_000) }
                } finally {
                  ended = true
                }
              },
            },
          },
        },
      }),
    }))
    const bytes = bytesOf({
      body: graphql('subscription { flood }'),
      headers: { accept: 'text/event-stream' },
    })
    const socket = send(doors[door], bytes)
    await new Promise((resolve) => socket.once('readable', resolve))
    let before = -1
    await waitUntil(
      () => {
        const still = before === produced
        before = produced
        return still && produced > 0
      },
      { timeoutMs: 15_000, everyMs: 200 },
    )
    expect(produced).toBeLessThan(10_000)
    socket.destroy()
    await waitUntil(() => ended)
  })
})

it('a stream whose client leaves before it begins is ended', async () => {
  const seen: string[] = []
  const doors = await openDoors(() => ({
    schema: createSchema<any>({
      typeDefs: 'type Query { a: Int } type Subscription { never: Int }',
      resolvers: {
        Subscription: {
          never: {
            subscribe: () => ({
              [Symbol.asyncIterator]() {
                return this
              },
              next: () => new Promise(() => {}),
              async return() {
                seen.push('ended')
                return { done: true, value: undefined }
              },
            }),
          },
        },
      },
    }),
    plugins: [
      {
        async onSubscribe({ args }: { args: { contextValue: any } }) {
          seen.push('begun')
          await new Promise((resolve) => args.contextValue.res.once('close', resolve))
        },
      },
    ],
  }))
  const headers = { accept: 'text/event-stream' }
  const socket = send(doors.thin, bytesOf({ body: graphql('subscription { never }'), headers }))
  await waitUntil(() => seen.length === 1)
  socket.destroy()
  await waitUntil(() => seen.length === 2)
  expect(seen).toEqual(['begun', 'ended'])
})
