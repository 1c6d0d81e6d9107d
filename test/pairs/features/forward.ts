import { constant } from 'fast-check'
import type { Feature, Value } from '../feature.ts'

const forwards = (name: string, grpc: readonly string[], rest: readonly string[]): Value => ({
  name,
  config: () =>
    constant({
      grpc: { books: { forwardHeaders: grpc } },
      rest: { authors: { forwardHeaders: rest } },
    }),
  forwards: { grpc, rest },
})

export const forward: Feature = {
  name: 'forward',
  settings: ['grpc', 'rest'],
  values: [
    { name: 'usual' },
    forwards('none', [], []),
    forwards('tenant by grpc', ['x-tenant'], []),
    forwards('tenant by rest', [], ['x-tenant']),
    forwards('user', ['x-user'], ['x-user']),
    forwards('all', ['authorization', 'x-tenant', 'x-user'], ['authorization', 'x-tenant', 'x-user']),
  ],
}
