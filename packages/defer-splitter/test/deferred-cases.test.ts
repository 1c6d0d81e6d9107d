import type { Plugin } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { clientMergers } from './support/client-mergers.ts'
import { createCaseSchema, deferredCases } from './support/deferred-cases.ts'
import { type Merged, mergePatchesFormat, mergePendingFormat } from './support/merge-wire.ts'
import { mergeWithRelay, quietRelay, toRelayText } from './support/relay-merger.ts'
import { createTestServer, partsOf, type TestServer } from './support/server.ts'

const accepts = {
  patches: 'multipart/mixed;deferSpec=20220824',
  pending: 'multipart/mixed;incrementalSpec=v0.2',
}

/** Keeps whole answers, as caches do, and gives them to whoever asks the same. */
function createKeeper(): Plugin {
  const kept = new Map<string, any>()
  return {
    onParams({ params, setResult }) {
      const known = kept.get(params.query ?? '')
      if (known) setResult(structuredClone(known))
    },
    onExecutionResult({ result, context }: any) {
      const { query = '' } = context.params ?? {}
      if (result && !(Symbol.asyncIterator in result)) kept.set(query, JSON.parse(JSON.stringify(result)))
    },
  }
}

const ways = ['streamed', 'eager', 'a hit'] as const

async function answer(server: TestServer, query: string, accept: string) {
  const response = await server.post(query, { accept })
  const text = await response.text()
  return response.headers.get('content-type')?.startsWith('multipart') ? partsOf(text) : [JSON.parse(text)]
}

const bag = (errors: readonly any[] = []): string[] =>
  errors.map(({ path, message }) => JSON.stringify([path, message])).sort()

function mergeStrictly(format: string, parts: readonly any[]): Pick<Merged, 'data' | 'errors'> {
  if (parts.length === 1) return { errors: [], ...parts[0] }
  return format === 'patches' ? mergePatchesFormat(parts) : mergePendingFormat(parts)
}

describe.each(['at once', 'later'] as const)('fields that are ready %s', (order) => {
  const schema = createCaseSchema(order)
  const yoga = { maskedErrors: false }
  describe.each(ways)('%s', (way) => {
    it.each(deferredCases.map((one) => [one.what, one] as const))('%s', async (_, { query, streamed }) => {
      const server = createTestServer({
        schema,
        yoga,
        options: { strategy: way === 'eager' ? 'eager' : 'streaming' },
        before: way === 'a hit' ? [createKeeper()] : [],
      })
      const [plain] = await answer(server, query, 'application/json')
      const isWhole = way !== 'streamed' || streamed === undefined
      for (const [format, accept] of Object.entries(accepts)) {
        const parts = await answer(server, query, accept)
        const strict = mergeStrictly(format, parts)
        expect(strict.data).toEqual(isWhole ? plain.data : streamed)
        expect(isWhole ? bag(strict.errors) : bag(plain.errors)).toEqual(bag(plain.errors))
        const merging = Object.entries(clientMergers).filter(
          ([, { format: own, failedFragment, takesLaterNulls }]) =>
            own === format &&
            parts.length > 1 &&
            (isWhole || failedFragment === 'left') &&
            // urql keeps an object that a later part makes null.
            (takesLaterNulls || !plain.errors),
        )
        for (const [name, { merge }] of merging)
          expect([name, merge(parts).data]).toEqual([name, strict.data])
      }
    })

    it.each(deferredCases.map((one) => [one.what, one] as const))('Relay: %s', async (_, one) => {
      quietRelay()
      const server = createTestServer({
        schema,
        yoga,
        options: { strategy: way === 'eager' ? 'eager' : 'streaming' },
        before: way === 'a hit' ? [createKeeper()] : [],
      })
      const query = toRelayText(schema, one.query)
      const [plain] = await answer(server, query, 'application/json')
      const parts = await answer(server, query, accepts.patches)
      const strict = mergeStrictly('patches', parts)
      const { data, error } = mergeWithRelay(schema, query, {}, parts)
      expect([error, data]).toEqual([undefined, strict.data])
      const isWhole = way !== 'streamed' || one.streamed === undefined
      expect(strict.data).toEqual(isWhole ? plain.data : strict.data)
    })
  })
})
