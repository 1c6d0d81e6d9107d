import { createInvalidationBus } from '@vinyasa/invalidation'
import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, useRestConnector } from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

/** Ways in which the version goes up. `outside`: another source of the server announces something. */
const CHANGES = ['updateUser', 'reset', 'quiet', 'fail', 'outside'] as const

/** An API whose reads look at the version when they arrive, and answer when they are told to. */
async function setup(cacheSize: number, withBus: boolean) {
  let version = 0
  const held: (() => void)[] = []
  const backend = cleanup.use(
    await startRestBackend(async ({ method, url }) => {
      if (method !== 'GET') {
        version++
        return url.pathname === '/fail' ? { status: 500 } : { json: { id: 1, version } }
      }
      const seen = version
      await new Promise<void>((resolve) => held.push(resolve))
      return { json: { id: 1, version: seen } }
    }),
  )
  const bus = createInvalidationBus()
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: backend.url,
      cacheSize,
      noRetry: true,
      ...(withBus && { bus }),
      endpoints: [
        { name: 'user', path: '/user', responseSchema: { typeName: 'User', fields: { version: 'int' } } },
        { name: 'updateUser', path: '/user', method: 'PUT', returnType: 'User' },
        { name: 'reset', path: '/reset', method: 'POST' },
        // With a cache it would be the author's word that nothing has to be dropped.
        { name: 'quiet', path: '/quiet', method: 'POST', ...(cacheSize === 0 && { invalidates: false }) },
        { name: 'fail', path: '/fail', method: 'POST' },
      ],
    }),
  )
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false })
  async function run(query: string): Promise<any> {
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    })
    return response.json()
  }
  return { run, bus, held, change: () => version++, version: () => version }
}

describe('a read that begins after the answer to a change is never older than it', () => {
  it.each([0, 10])('cacheSize: %i', async (cacheSize) => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.constant('read' as const) },
      { weight: 2, arbitrary: fc.constantFrom(...CHANGES) },
      { weight: 2, arbitrary: fc.constant('release' as const) },
    )
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 2, maxLength: 12 }),
      fc.boolean(),
      async (steps, withBus) => {
        const { run, bus, held, change, version } = await setup(cacheSize, withBus)
        const reads: Promise<readonly [number, number]>[] = []
        const read = (): void => {
          const atLeast = version()
          const answer = run('{ user { version } }')
          reads.push(answer.then(({ data }) => [data.user.version, atLeast]))
        }
        for (const name of steps) {
          if (name === 'read') {
            read()
            // Until it is under way: a call that begins late is fresh anyway.
            await new Promise((resolve) => setTimeout(resolve, 3))
          } else if (name === 'release') held.shift()?.()
          else if (name === 'updateUser') await run('mutation { updateUser { version } }')
          else if (name !== 'outside') await run(`mutation { ${name} }`)
          else if (withBus) {
            change()
            await bus.publish([{ entityType: 'User', operation: 'ban' }])
          }
        }
        // The releases go on until every read has its answer.
        const letGo = setInterval(() => held.splice(0).forEach((go) => go()), 1)
        const answers = await Promise.all(reads).finally(() => clearInterval(letGo))
        for (const [seen, atLeast] of answers) expect(seen).toBeGreaterThanOrEqual(atLeast)
      },
    )
    await fc.assert(property, { numRuns: 25, interruptAfterTimeLimit: 20_000 })
  })
})
