import { constant, constantFrom, record } from 'fast-check'
import type { Feature, Value } from '../feature.ts'

export const batching: Feature = {
  name: 'batching',
  settings: ['graphql'],
  values: [
    { name: 'off' },
    {
      name: 'on',
      config: () => constantFrom(3, 10).map((batching) => ({ graphql: { batching } })),
      ways: ['batch'],
    },
  ],
}

/** Bounds that nothing asked here comes near. */
const deferring = (strategy: 'auto' | 'streaming' | 'eager'): Value['config'] => {
  return () =>
    record({
      defer: record({
        strategy: constant(strategy),
        enabled: constant(true),
        maxDeferredFragments: constantFrom(4, 16),
        fragmentTimeoutMs: constantFrom(0, 20_000),
        maxTotalTimeoutMs: constantFrom(0, 30_000),
        multipartBoundary: constantFrom('-', 'a boundary of its own'),
      }),
    })
}

export const defer: Feature = {
  name: 'defer',
  settings: ['defer'],
  values: [
    { name: 'off', config: () => constant({ defer: false }) },
    { name: 'usual', ways: ['multipart'], operations: ['defer'] },
    { name: 'streaming', config: deferring('streaming'), ways: ['multipart'], operations: ['defer'] },
    { name: 'eager', config: deferring('eager'), ways: ['multipart'], operations: ['defer'] },
  ],
}
