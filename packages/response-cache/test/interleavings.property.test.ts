import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ResponseCacheOptions } from '../src/index.ts'
import { ask, createWorld } from './kit.ts'

const users = '{ users { id name } }'
const step = fc.constantFrom('read', 'read', 'rename')

/** Every reading is later than the one before. */
function createHurriedClock(): { now(): number; wallNow(): number } {
  let now = 0
  const tick = (): number => ++now
  return { now: tick, wallNow: tick }
}

/** What one step sets in motion goes as far as it can before the next is chosen. */
async function settled(take: () => Promise<void>): Promise<void> {
  await take()
  for (let turn = 0; turn < 6; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/**
 * Reads and mutations of one gateway in every order that fast-check's scheduler comes up with: it
 * decides when each begins, when a read looks at the data, and when each execution ends.
 */
it.each<[string, () => ResponseCacheOptions]>([
  ['types', () => ({ strategy: 'types' })],
  ['entities', () => ({ strategy: 'entities' })],
  ['all', () => ({ strategy: 'all' })],
  [
    'each hit stale',
    () => ({ defaultTtlMs: 1, staleWhileRevalidateMs: 1e9, platform: { clock: createHurriedClock() } }),
  ],
])(
  'a read that begins after the answer of a mutation never shows older data (%s)',
  async (_name, options) => {
    const seen = { hits: 0, coalesced: 0 }
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler({ act: settled }),
        fc.array(fc.array(step, { minLength: 2, maxLength: 6 }), { minLength: 2, maxLength: 4 }),
        async (scheduler, clients) => {
          const world = createWorld({ cache: options() })
          const turn = (label: string): Promise<unknown> => scheduler.schedule(Promise.resolve(), label)
          world.gate = {
            get before() {
              return turn('a read begins')
            },
            get after() {
              return turn('a read has read')
            },
            get committed() {
              return turn('a mutation has committed')
            },
          }
          /** Names in the order in which they were committed. */
          const committed = ['Ada']
          const set = world.users.set.bind(world.users)
          world.users.set = (id, user) => (committed.push(user.name), set(id, user))
          let answered = 0

          async function rename(name: string): Promise<void> {
            await ask(world, `mutation { renameUser(id: "1", name: "${name}") { id } }`)
            answered = Math.max(answered, committed.indexOf(name))
          }
          async function read(): Promise<void> {
            const oldest = answered
            const answer = await ask(world, users)
            const shown = committed.indexOf(answer.json.data.users[0].name)
            expect(shown, `${answer.cache} shows ${committed[shown]}`).toBeGreaterThanOrEqual(oldest)
          }
          const running = clients.map(async (steps, client) => {
            for (const [index, kind] of steps.entries()) {
              await turn(`${kind} by client ${client}`)
              await (kind === 'read' ? read() : rename(`name ${client}.${index}`))
            }
          })
          await scheduler.waitFor(Promise.all(running))
          world.gate = {}
          await read()
          await read()
          const stats = world.cache.stats()
          seen.hits += stats.hits + stats.stale
          seen.coalesced += stats.coalesced
        },
      ),
      { numRuns: 60 },
    )
    // Otherwise it would show nothing.
    expect(Math.min(seen.hits, seen.coalesced)).toBeGreaterThan(20)
  },
)
