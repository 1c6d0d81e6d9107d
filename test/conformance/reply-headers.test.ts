import { createGrpcSource, useGrpcSource } from '@vinyasa/grpc-source'
import { createInvalidationBus } from '@vinyasa/invalidation'
import { useResponseCache } from '@vinyasa/response-cache'
import { createYoga, type Plugin } from 'graphql-yoga'
import { describe, expect, it, onTestFinished } from 'vitest'

// What a backend puts beside a reply is for the request that was made for it: no cache gives it to another.

const PROTO = `syntax = "proto3"; package c;
service S { rpc Get(Id) returns (User); }
message Id { string id = 1; }
message User { string id = 1; string name = 2; }`

const ASK = '{ user(id: "1") { name } }'

describe.each(['first', 'last'] as const)('reply headers beside the response cache, source %s', (place) => {
  async function start() {
    const bus = createInvalidationBus()
    let calls = 0
    const source = await createGrpcSource({
      name: 'c',
      protoText: { 'c.proto': PROTO },
      endpoint: 'localhost:1',
      bus,
      methods: { 'c.S.Get': { schema: { name: 'user' } } },
      responseHeaders: ['x-call'],
      transport: () => ({
        async unary({ onTrailers }) {
          onTrailers?.([['x-call', String(++calls)]])
          await new Promise((resolve) => setTimeout(resolve, 5))
          return Buffer.from([0x0a, 1, 0x31, 0x12, 1, 0x41])
        },
        stream: () => expect.unreachable('nothing streams'),
        close() {},
      }),
    })
    onTestFinished(() => source.close())
    const own = useGrpcSource(source) as Plugin
    const cache = useResponseCache({ bus, clientMaxAge: true })
    const yoga = createYoga({ logging: false, plugins: place === 'first' ? [own, cache] : [cache, own] })
    return async (headers: Record<string, string> = {}) => {
      const response = await yoga.fetch(`http://test/graphql?query=${encodeURIComponent(ASK)}`, { headers })
      const body = await response.text()
      const seen = (name: string): string | null => response.headers.get(name)
      return {
        status: response.status,
        body,
        outcome: seen('x-cache'),
        call: seen('x-call'),
        ...cacheable(seen),
      }
    }
  }
  const cacheable = (seen: (name: string) => string | null) => ({
    control: seen('cache-control'),
    hasTag: seen('etag') !== null,
  })
  const BODY = '{"data":{"user":{"name":"A"}}}'

  it('a miss has them and may be kept by nobody; a hit has none', async () => {
    const ask = await start()
    const own = { control: 'private, no-store', hasTag: false, call: '1' }
    expect(await ask()).toEqual({ status: 200, body: BODY, outcome: 'MISS', ...own })
    const hit = await ask()
    expect(hit).toMatchObject({ status: 200, body: BODY, outcome: 'HIT', call: null, hasTag: true })
    expect(hit.control).toMatch(/^public, max-age=\d+$/)
  })

  it('of requests that wait for one another, the one that was executed has them', async () => {
    const ask = await start()
    const answers = await Promise.all([ask(), ask(), ask(), ask()])
    expect(answers.map(({ body }) => body)).toEqual([BODY, BODY, BODY, BODY])
    expect(answers.map(({ call }) => call)).toEqual(['1', null, null, null])
    expect(answers.map(({ outcome }) => outcome)).toEqual(['MISS', 'COALESCED', 'COALESCED', 'COALESCED'])
  })
})
