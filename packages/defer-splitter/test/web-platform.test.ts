import { useContentEncoding } from '@whatwg-node/server'
import { describe, expect, it } from 'vitest'
import { createTestServer, partsOf } from './support/server.ts'

const {
  Request,
  Response,
  Headers,
  ReadableStream,
  TextEncoder,
  TextDecoder,
  CompressionStream,
  DecompressionStream,
  URL,
  URLSearchParams,
} = globalThis

/** Yoga on the platform's own classes, as on Deno, Bun and workerd. */
const native = {
  fetchAPI: {
    Request,
    Response,
    Headers,
    ReadableStream,
    TextEncoder,
    TextDecoder,
    CompressionStream,
    DecompressionStream,
    URL,
    URLSearchParams,
  },
}

const query = '{ user { id ... @defer(label: "bio") { bio } ... @defer(label: "name") { name } } }'

/** A request as servers of those platforms hand it out: its headers cannot be changed. */
function receive(headers: Record<string, string>, path: string): Request {
  const request = new Request(`http://test${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  })
  const refuse = (): never => {
    throw new TypeError("Can't modify immutable headers.")
  }
  Object.assign(request.headers, { set: refuse, append: refuse, delete: refuse })
  return request
}

describe.each(['streaming', 'eager'] as const)('on a web platform, %s', (strategy) => {
  it.each([
    ['/graphql', 'multipart/mixed'],
    ['/graphql/defer', '*/*'],
  ])('POST %s, Accept: %s: the parts come one by one, uncompressed', async (path, accept) => {
    const server = createTestServer({
      options: { strategy },
      yoga: native,
      before: [useContentEncoding() as never],
    })
    const response = await server.yoga.handleRequest(
      receive({ accept, 'accept-encoding': 'gzip' }, path) as never,
      {},
    )
    expect(response).toBeInstanceOf(Response)
    expect(response.headers.get('content-encoding')).toBeNull()
    const chunks: string[] = []
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      chunks.push(new TextDecoder().decode(chunk))
    }
    expect(chunks.length).toBeGreaterThan(1)
    const parts = partsOf(chunks.join(''))
    expect(chunks).toHaveLength(parts.length)
    expect(parts[0]).toEqual({ data: { user: { id: '1' } }, hasNext: true })
    expect(parts.at(-1).hasNext).toBe(false)
  })

  it('a client that leaves ends the work', async () => {
    const ended: string[] = []
    const server = createTestServer({
      options: { strategy },
      yoga: native,
      after: [
        {
          onExecute: () => ({
            onExecuteDone: () => ({ onEnd: () => void ended.push('end') }),
          }),
        },
      ],
    })
    const response = await server.yoga.handleRequest(
      receive({ accept: 'multipart/mixed' }, '/graphql') as never,
      {},
    )
    const reader = response.body!.getReader()
    await reader.read()
    await reader.cancel()
    await expect.poll(() => ended).toEqual(['end'])
  })
})
