import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { createGrpcSource, useGrpcSource } from '@vinyasa/grpc-source'
import type { PlanEvent } from '@vinyasa/source-kit'
import { createInvalidationBus } from '@vinyasa/invalidation'
import { useLiveQuery } from '@vinyasa/live-query'
import { useResponseCache } from '@vinyasa/response-cache'
import { createYoga, type Plugin } from 'graphql-yoga'
import { describe, expect, it, onTestFinished } from 'vitest'

// Plans of grpc-source beside cache, `@defer` and live queries, in both orders: the same answers as without plans.

const PROTO = `syntax = "proto3"; package c;
service S { rpc Get(Id) returns (User); }
message Id { string id = 1; }
message User { string id = 1; string name = 2; }`

type Place = 'first' | 'last'

async function start(place: Place, plans: boolean) {
  const bus = createInvalidationBus()
  const events: PlanEvent[] = []
  const world = { name: 'Ada "Ł"', calls: 0 }
  const source = await createGrpcSource({
    name: 'c',
    protoText: { 'c.proto': PROTO },
    endpoint: 'localhost:1',
    plans,
    onPlan: (event) => events.push(event),
    methods: {
      'c.S.Get': { schema: { name: 'user' }, liveQuery: { enabled: true, triggers: ['User.update'] } },
    },
    transport: () => ({
      async unary() {
        world.calls++
        const name = Buffer.from(world.name)
        return Buffer.concat([Buffer.from([0x0a, 1, 0x31, 0x12, name.length]), name])
      },
      stream: () => expect.unreachable('nothing streams'),
      close() {},
    }),
  })
  const live = useLiveQuery({ bus })
  const behaviours: Plugin[] = [useResponseCache({ bus }), useDeferSplitter(), live]
  const own = useGrpcSource(source) as Plugin
  const yoga = createYoga({
    logging: false,
    plugins: place === 'first' ? [own, ...behaviours] : [...behaviours, own],
  })
  onTestFinished(async () => {
    live.close()
    await source.close()
  })
  async function ask(query: string, accept = 'application/json'): Promise<Response> {
    return yoga.fetch('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ query }),
    })
  }
  return { world, events, bus, ask }
}

describe.each(['first', 'last'] as const)('with the source %s', (place) => {
  it('a hit of the cache is, byte for byte, the miss, which a plan made', async () => {
    const { ask, world, events } = await start(place, true)
    const query = '{ user(id: "1") { name id } }'
    const [miss, hit] = [await (await ask(query)).text(), await (await ask(query)).text()]
    expect(miss).toBe('{"data":{"user":{"name":"Ada \\"Ł\\"","id":"1"}}}')
    expect(hit).toBe(miss)
    expect(world.calls).toBe(1)
    expect(events.map(({ outcome }) => outcome)).toEqual(['planned'])
  })

  it('@defer gives the parts that it gives without plans, and one answer to those who take no parts', async () => {
    const query = '{ user(id: "1") { id ... @defer { name } } }'
    for (const accept of ['multipart/mixed', 'application/json']) {
      const answers = []
      for (const plans of [true, false]) {
        const { ask } = await start(place, plans)
        answers.push(await (await ask(query, accept)).text())
      }
      expect(answers[0]).toContain('Ada')
      expect(answers[0]).toBe(answers[1])
    }
  })

  it('a live query is executed again by its plan', async () => {
    const { ask, world, events, bus } = await start(place, true)
    const response = await ask('query @live { user(id: "1") { id name } }', 'text/event-stream')
    const reader = response.body?.getReader()
    let text = ''
    const readUntil = async (wanted: string): Promise<void> => {
      while (!text.includes(wanted)) {
        const { value, done } = (await reader?.read()) ?? { value: undefined, done: true }
        if (done) throw new Error(`the stream ended with ${text}`)
        text += Buffer.from(value as Uint8Array).toString()
      }
    }
    await readUntil('Ada')
    world.name = 'Bo'
    await bus.publish([{ entityType: 'User', operation: 'update', entityId: '1' }])
    await readUntil('"Bo"')
    await reader?.cancel()
    expect(events.map(({ outcome }) => outcome)).not.toContain('unplanned')
    expect(events.map(({ outcome }) => outcome)).toContain('planned')
  })
})
