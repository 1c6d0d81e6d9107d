import { constant, constantFrom } from 'fast-check'
import type { Feature } from '../feature.ts'

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

export const defer: Feature = {
  name: 'defer',
  settings: ['defer'],
  values: [
    { name: 'off', config: () => constant({ defer: false }) },
    { name: 'usual', ways: ['multipart'], operations: ['defer'] },
    {
      name: 'eager',
      config: () => constant({ defer: { strategy: 'eager' } }),
      ways: ['multipart'],
      operations: ['defer'],
    },
  ],
}
