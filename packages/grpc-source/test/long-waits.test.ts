import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { waitUntil } from '@vinyasa/test-kit'
import { backend, describeTransports, run, yogaWith } from './harness.ts'

const PROTO = `
syntax = "proto3";
package r;
import "graphql.proto";
service S {
  rpc Get(Req) returns (Res) { option (graphql.schema) = { name: "get" }; }
  rpc Follow(Req) returns (stream Res) { option (graphql.schema) = { type: SUBSCRIPTION name: "follow" }; }
}
message Req {}
message Res { string text = 1; }
`
const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 30))
const startBackend = () =>
  backend(
    { 'r.proto': PROTO },
    {
      'r.S/Get': async () => {
        await later()
        return { text: 'x' }
      },
      'r.S/Follow': async function* () {
        await later()
        yield { text: 'x' }
      },
    },
  )

describeTransports('waits longer than a timer of the platform', (source) => {
  describe.each([2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 32, Number.MAX_SAFE_INTEGER])(
    'a deadline of %d ms',
    (timeoutMs) => {
      it('ends no call at once, neither here nor at the server', async () => {
        const { address: endpoint } = await startBackend()
        const methods = { 'r.S.Follow': { timeoutMs } }
        const grpc = await source({ protoText: { 'r.proto': PROTO }, endpoint, timeoutMs, methods })
        expect(await run(yogaWith(grpc), '{ get { text } }')).toEqual({ data: { get: { text: 'x' } } })
        const streamed = await yogaWith(grpc).fetch('http://test/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
          body: JSON.stringify({ query: 'subscription { follow { text } }' }),
        })
        expect(await streamed.text()).toContain('{"data":{"follow":{"text":"x"}}}')
      })
    },
  )

  it('a channel that is given such a time to connect is not given up at once', async () => {
    const { address: endpoint } = await startBackend()
    const grpc = await source({
      protoText: { 'r.proto': PROTO },
      endpoint,
      channel: { connectTimeoutMs: 2 ** 31 },
    })
    expect(await grpc.call('r.S.Get')).toMatchObject({ text: 'x' })
  })
})

describeTransports('the wall clock steps', (source) => {
  it.each([-3_600_000, -60_000, 60_000, 3_600_000])(
    'by %d ms: a backend that had just failed is asked again as soon as ever',
    async (step) => {
      const up = await startBackend()
      const grpc = await source({
        protoText: { 'r.proto': PROTO },
        endpoint: up.address,
        retry: { maxRetries: 0 },
      })
      await grpc.call('r.S.Get')
      await up.stop()
      await expect(grpc.call('r.S.Get')).rejects.toMatchObject({
        extensions: { code: 'SERVICE_UNAVAILABLE' },
      })
      const { now } = Date
      const wall = vi.spyOn(Date, 'now').mockImplementation(() => now() + step)
      onTestFinished(() => wall.mockRestore())
      await up.restart()
      const answer = await waitUntil(() => grpc.call('r.S.Get').catch(() => undefined), { timeoutMs: 5_000 })
      expect(answer).toMatchObject({ text: 'x' })
    },
  )
})
