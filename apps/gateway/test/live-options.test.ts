import { VOLATILITY_NAMES } from '@vinyasa/core'
import { describe, expect, it } from 'vitest'
import { gatewayConfig } from '../src/config/schema.ts'

/** Every place of a config that holds live options. */
const PLACES: Readonly<Record<string, (options: object) => object>> = {
  'grpc methods': (liveQuery) => ({
    grpc: {
      users: { endpoint: 'localhost:1', protoFiles: ['a.proto'], methods: { 'a.B.C': { liveQuery } } },
    },
  }),
  'rest endpoints': (liveQuery) => ({
    rest: { shop: { baseUrl: 'http://localhost:1', endpoints: [{ name: 'a', path: '/', liveQuery }] } },
  }),
  'liveQuery.fields': (options) => ({ liveQuery: { fields: { a: options } } }),
  'liveQuery.defaults': (defaults) => ({ liveQuery: { defaults } }),
}

describe.each(Object.entries(PLACES))('%s', (_place, configWith) => {
  const isTaken = (options: object): boolean => gatewayConfig.safeParse(configWith(options)).success

  it.each(VOLATILITY_NAMES)('take the volatility %s', (volatility) => {
    expect(isTaken({ volatility })).toBe(true)
  })

  it('refuse another', () => expect(isTaken({ volatility: 'Often' })).toBe(false))

  it.each([
    [50, true],
    [49, false],
    [0, false],
  ])('take a poll interval of %d ms: %s', (pollIntervalMs, taken) => {
    expect(isTaken({ pollIntervalMs })).toBe(taken)
  })

  it('take every option', () => {
    const options = { enabled: true, strategy: 'HASH_DIFF', triggers: ['A.b'], dependsOn: ['C'] }
    const more = { throttleMs: 0, ttlSeconds: 1, maxConnections: 2, filter: 'gateway' }
    expect(isTaken({ ...options, ...more })).toBe(true)
  })
})
