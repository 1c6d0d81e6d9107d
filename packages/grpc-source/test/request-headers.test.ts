import { describe, expect, it } from 'vitest'
import { backend, source } from './harness.ts'

const PROTO = `
syntax = "proto3";
package r;
import "graphql.proto";
service S { rpc Get(Req) returns (Res) { option (graphql.schema) = { name: "get" }; } }
message Req { string id = 1; }
message Res { string text = 1; }
`

// Over transport http2. With grpc-js a block of 100 kB ends the connection, and every call on it.
describe('metadata of a request', () => {
  it.each([16_000, 64_000, 66_000, 100_000, 140_000, 300_000])(
    'of %d bytes: arrives, or fails no more than its call',
    async (size) => {
      const up = await backend(
        { 'r.proto': PROTO },
        {
          'r.S/Get': (_request: unknown, { metadata }: { metadata: { get(name: string): unknown[] } }) => ({
            text: String(String(metadata.get('x-large')[0] ?? '').length),
          }),
        },
      )
      const grpc = await source({
        protoText: { 'r.proto': PROTO },
        endpoint: up.address,
        retry: { maxRetries: 0 },
        timeoutMs: 10_000,
      })
      const ask = (length: number): Promise<unknown> =>
        grpc.call('r.S.Get', {}, { metadata: { 'x-large': 'm'.repeat(length) } })
      for (let round = 0; round < 3; round++) {
        const [large, ...small] = await Promise.allSettled([ask(size), ask(10), ask(10), ask(10)])
        expect(small.map(outcome)).toEqual(['10', '10', '10'])
        expect(size > 16_000 ? ['SERVICE_UNAVAILABLE', String(size)] : [String(size)]).toContain(
          outcome(large!),
        )
      }
    },
  )
})

/** How many bytes the server saw, or the error's code. */
function outcome(settled: PromiseSettledResult<unknown>): string {
  return settled.status === 'fulfilled'
    ? (settled.value as { text: string }).text
    : settled.reason.extensions.code
}
