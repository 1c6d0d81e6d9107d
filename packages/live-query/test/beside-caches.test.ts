import { useResponseCache } from '@graphql-yoga/plugin-response-cache'
import { createClient as createSseClient } from 'graphql-sse'
import { createClient } from 'graphql-ws'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startLive, type LiveSetup } from './support.ts'

const QUERY = 'query @live { users { users { id name } } }'

let setup: LiveSetup
const clients: { dispose(): unknown }[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.dispose()
  await setup.close()
})

const transports = {
  WebSocket: () => {
    const client = createClient({ url: setup.wsUrl, webSocketImpl: WebSocket, retryAttempts: 0 })
    clients.push(client)
    return client
  },
  SSE: () => {
    const client = createSseClient({ url: setup.url, retryAttempts: 0 })
    clients.push(client)
    return client
  },
}

/** The names of each update, of which a second subscriber has the same. */
function follow(transport: keyof typeof transports): string[] {
  const seen: string[] = []
  transports[transport]().subscribe<any>(
    { query: QUERY },
    {
      next: ({ data, errors }) =>
        void seen.push(data ? data.users.users.map(({ name }: any) => name).join(' ') : String(errors)),
      error: (error) => void seen.push(String(error)),
      complete: () => void seen.push('complete'),
    },
  )
  return seen
}

describe.each(['before', 'after'] as const)("Yoga's response cache, %s the plugin", (order) => {
  it.each(['WebSocket', 'SSE'] as const)('never answers for a live query over %s', async (transport) => {
    const cache = [useResponseCache({ session: () => null })]
    setup = await startLive({
      realTime: true,
      ...(order === 'before' ? { before: cache } : { yoga: { plugins: cache } }),
    })
    const first = follow(transport)
    await expect.poll(() => first).toEqual(['Ada Bob'])
    const second = follow(transport)
    await expect.poll(() => second).toEqual(['Ada Bob'])
    await setup.changeUser('1', { name: 'Eve' })
    await expect.poll(() => first).toEqual(['Ada Bob', 'Eve Bob'])
    const late = follow(transport)
    await expect.poll(() => late).toEqual(['Eve Bob'])
    await setup.changeUser('2', { name: 'Rob' })
    for (const seen of [first, second]) {
      await expect.poll(() => seen).toEqual(['Ada Bob', 'Eve Bob', 'Eve Rob'])
    }
    expect(setup.errors).toEqual([])
  })
})
