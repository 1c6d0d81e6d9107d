import { createInvalidationBus } from '@vinyasa/invalidation'
import { grpcError } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backend, run, source, yogaWith } from './harness.ts'

const PROTO = `
syntax = "proto3";
package f;
import "graphql.proto";
service S {
  rpc GetUser(Key) returns (User) { option (graphql.schema) = { name: "user" }; }
  rpc UpdateUser(Key) returns (User) { option (graphql.schema) = { type: MUTATION name: "updateUser" }; }
  rpc Reset(Nothing) returns (Nothing) { option (graphql.schema) = { type: MUTATION name: "reset" }; }
  rpc Quiet(Nothing) returns (Nothing) { option (graphql.schema) = { type: MUTATION name: "quiet" }; }
  rpc Fail(Nothing) returns (Nothing) { option (graphql.schema) = { type: MUTATION name: "fail" }; }
}
message Key { string id = 1; }
message User { string id = 1; int32 version = 2; }
message Nothing {}
`

/**
 * Ways in which the version goes up. `outside`: another source of the server announces something; `unheard`: nobody does,
 * as the bus is out of touch, until the next `outside`.
 */
const CHANGES = ['updateUser', 'reset', 'quiet', 'fail', 'outside', 'unheard'] as const
const MUTATIONS = {
  updateUser: 'mutation { updateUser(id: "1") { id } }',
  reset: 'mutation { reset }',
  quiet: 'mutation { quiet }',
  fail: 'mutation { fail }',
}

/** A backend whose reads look at the version when they arrive, and answer when they are told to. */
async function setup(dedupe: 'operation' | 'inflight' | false, withBus: boolean) {
  let version = 0
  const held: (() => void)[] = []
  const change = (): object => {
    version++
    return {}
  }
  const { address } = await backend(
    { 'f.proto': PROTO },
    {
      'f.S/GetUser': async () => {
        const seen = version
        await new Promise<void>((resolve) => held.push(resolve))
        return { id: '1', version: seen }
      },
      'f.S/UpdateUser': change,
      'f.S/Reset': change,
      'f.S/Quiet': change,
      'f.S/Fail': () => {
        change()
        throw grpcError(13, 'failed after the commit')
      },
    },
  )
  const { publish, subscribe } = createInvalidationBus()
  const bus = { publish, subscribe, isInTouch: true }
  const grpc = await source({
    protoText: { 'f.proto': PROTO },
    endpoint: address,
    dedupe,
    methods: { 'f.S.Quiet': { invalidates: false } },
    ...(withBus && { bus }),
  })
  return { yoga: yogaWith(grpc), bus, held, change, version: () => version }
}

describe('a read that begins after the answer to a change is never older than it', () => {
  it.each(['operation', 'inflight', false] as const)(
    'dedupe: %s',
    async (dedupe) => {
      const step = fc.oneof(
        { weight: 3, arbitrary: fc.constant('read' as const) },
        { weight: 2, arbitrary: fc.constantFrom(...CHANGES) },
        { weight: 2, arbitrary: fc.constant('release' as const) },
      )
      const property = fc.asyncProperty(
        fc.array(step, { minLength: 2, maxLength: 12 }),
        fc.boolean(),
        async (steps, withBus) => {
          const { yoga, bus, held, change, version } = await setup(dedupe, withBus)
          const reads: Promise<readonly [number, number]>[] = []
          const read = (): void => {
            const atLeast = version()
            const answer = run(yoga, '{ user(id: "1") { version } }')
            reads.push(answer.then(({ data }) => [data.user.version, atLeast]))
          }
          for (const name of steps) {
            if (name === 'read') {
              read()
              // Until it is under way: a call that begins late is fresh anyway.
              await new Promise((resolve) => setTimeout(resolve, 3))
            } else if (name === 'release') held.shift()?.()
            else if (name === 'unheard') {
              if (withBus) {
                bus.isInTouch = false
                change()
              }
            } else if (name !== 'outside') await run(yoga, MUTATIONS[name])
            else if (withBus) {
              change()
              await bus.publish([{ entityType: 'Other', operation: 'update' }])
              bus.isInTouch = true
            }
          }
          // The releases go on until every read has its answer.
          const letGo = setInterval(() => held.splice(0).forEach((go) => go()), 1)
          const answers = await Promise.all(reads).finally(() => clearInterval(letGo))
          for (const [seen, atLeast] of answers) expect(seen).toBeGreaterThanOrEqual(atLeast)
        },
      )
      await fc.assert(property, { numRuns: 25 })
    },
    240_000,
  )

  it('also where one context serves several operations', async () => {
    const { yoga, held, version } = await setup('operation', false)
    const { schema, contextFactory, execute, parse } = yoga.getEnveloped({})
    const contextValue = (await contextFactory({})) as object
    const ask = async (text: string): Promise<any> => execute({ schema, document: parse(text), contextValue })
    const letGo = setInterval(() => held.splice(0).forEach((go) => go()), 1)
    for (let round = 0; round < 3; round++) {
      const { data } = await ask('{ user(id: "1") { version } }')
      expect(data.user.version).toBe(version())
      await ask(MUTATIONS.updateUser)
    }
    clearInterval(letGo)
  })
})
