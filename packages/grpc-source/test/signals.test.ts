import { getEventListeners } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { grpcError } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { backend, describeTransports, disposables, run, yogaWith } from './harness.ts'

const PROTO = `
syntax = "proto3";
package c;
import "graphql.proto";
service S { rpc Get(Req) returns (Res) { option (graphql.schema) = { name: "get" }; } }
message Req { string id = 1; }
message Res { string text = 1; }
`
const COUNT = 25
const query = (one: (index: number) => string): string =>
  `{ ${Array.from({ length: COUNT }, (_, index) => `a${index}: ${one(index)}`).join(' ')} }`
const different = query((index) => `get(id: "${index}") { text }`)

/** The warnings of leaks that Node gives while a test runs. */
function leakWarnings(): string[] {
  const warnings: string[] = []
  const hear = (warning: Error): void => void warnings.push(`${warning.name}: ${warning.message}`)
  process.on('warning', hear)
  onTestFinished(() => void process.off('warning', hear))
  return warnings
}

describeTransports('the signal of an operation with many calls', (source) => {
  it.each(['operation', 'inflight', false] as const)('has no leak, dedupe: %s', async (dedupe) => {
    const warnings = leakWarnings()
    const { address } = await backend({ 'c.proto': PROTO }, { 'c.S/Get': ({ id }) => ({ text: id }) })
    const grpc = await source({ protoText: { 'c.proto': PROTO }, endpoint: address, dedupe })
    const yoga = yogaWith(grpc)
    const server = disposables().use(createServer((request, response) => void yoga(request, response)))
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`
    for (const text of [different, `${different} #`]) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: text }),
      })
      expect(Object.keys(((await response.json()) as { data: object }).data)).toHaveLength(COUNT)
    }
    const { signal } = new AbortController()
    expect(Object.keys((await run(yoga, different, { signal })).data)).toHaveLength(COUNT)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    expect(warnings).toEqual([])
  })

  it.each(['operation', 'inflight'] as const)(
    'has no leak while calls are sent again, dedupe: %s',
    async (dedupe) => {
      const warnings = leakWarnings()
      const asked = new Set<unknown>()
      const { address } = await backend(
        { 'c.proto': PROTO },
        {
          'c.S/Get': ({ id }) => {
            if (asked.has(id)) return { text: id }
            asked.add(id)
            throw grpcError(14, 'not yet')
          },
        },
      )
      const grpc = await source({ protoText: { 'c.proto': PROTO }, endpoint: address, dedupe })
      await run(yogaWith(grpc), different, { signal: new AbortController().signal })
      expect(warnings).toEqual([])
    },
  )
})
