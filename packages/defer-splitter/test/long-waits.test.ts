import { makeExecutableSchema } from '@graphql-tools/schema'
import { describe, expect, it } from 'vitest'
import { createTestServer } from './support/server.ts'

const schema = makeExecutableSchema({
  typeDefs: 'type Query { fast: String, slow: String }',
  resolvers: {
    Query: {
      fast: () => 'fast',
      slow: () => new Promise((resolve) => setTimeout(resolve, 30, 'slow')),
    },
  },
})

const LONG = [2 ** 31, 2 ** 31 + 1, 2 ** 32, Number.MAX_SAFE_INTEGER]

describe.each(['streaming', 'eager'] as const)('%s', (strategy) => {
  it.each(LONG.flatMap((ms) => [{ fragmentTimeoutMs: ms }, { maxTotalTimeoutMs: ms }]))(
    '%o ends nothing at once',
    async (timeouts) => {
      const server = createTestServer({ schema, options: { strategy, ...timeouts } })
      const parts = await server.parts('{ fast ... @defer { slow } }')
      expect(JSON.stringify(parts)).toContain('"slow":"slow"')
      expect(JSON.stringify(parts)).not.toContain('errors')
    },
  )
})
