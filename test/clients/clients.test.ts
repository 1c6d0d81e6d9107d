import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { libraries, type Library } from './libraries.ts'
import { startWorld, type World } from './world.ts'

const READ = 'query { user(id: "1") { __typename id name } }'
const DEFERRED =
  'query Q { user(id: "1") { __typename id name ... @defer(label: "Q$defer$bio") { __typename bio } } }'
const LIVE = 'query @live { user(id: "1") { __typename id name } }'

const ada = { __typename: 'User', id: '1', name: 'Ada' }
const first = { user: ada }
const complete = { user: { ...ada, bio: 'a long one' } }

const of = (what: 'ask' | 'defer' | 'follow') =>
  Object.entries(libraries).filter(([, create]) => what in create('http://localhost', 'ws://localhost'))

let world: World
const opened: Library[] = []
beforeEach(async () => {
  world = await startWorld()
})
afterEach(async () => {
  for (const library of opened.splice(0)) await library.close()
  await world[Symbol.asyncDispose]()
})

function open(create: (typeof libraries)[string]): Required<Library> {
  const library = create(world.url, world.wsUrl)
  opened.push(library)
  return library as Required<Library>
}

describe.each(of('ask'))('%s', (_, create) => {
  it('asks a query and sends a mutation', async () => {
    const library = open(create)
    expect(await library.ask(READ)).toEqual(first)
    expect(await library.ask('mutation { rename(id: "1", name: "Eve") { __typename id name } }')).toEqual({
      rename: { ...ada, name: 'Eve' },
    })
    expect(await open(create).ask(READ)).toEqual({ user: { ...ada, name: 'Eve' } })
  })
})

/** Libraries that take no parts get everything in one answer, and what comes over a socket is never the cache's. */
const WHOLE = new Set(['graphql-request', 'graphql-sse', 'graphql-ws'])
const UNCACHED = new Set(['graphql-ws'])

describe.each(of('defer'))('%s', (title, create) => {
  it('defers, on a miss and on a hit of the cache', async () => {
    const onMiss = await open(create).defer(DEFERRED)
    const { reads } = world
    const before = reads()
    const onHit = await open(create).defer(DEFERRED)
    expect(reads() - before).toBe(UNCACHED.has(title) ? 1 : 0)
    for (const seen of [onMiss, onHit]) expect(seen.at(-1)).toEqual(complete)
    expect(JSON.parse(JSON.stringify(onMiss[0]))).toEqual(WHOLE.has(title) ? complete : first)
  })
})

describe.each(of('follow'))('%s', (_, create) => {
  it('subscribes, anew after a cut of the network, and unsubscribing leaves no work', async () => {
    const seen: number[] = []
    const stop = open(create).follow('subscription { ticks }', ({ ticks }) => seen.push(ticks))
    await expect.poll(() => seen.slice(0, 3)).toEqual([1, 2, 3])
    expect(world.streams()).toBe(1)
    world.cut()
    // The server starts to count anew.
    const afterCut = (): number[] => seen.slice(seen.lastIndexOf(1))
    await expect.poll(() => seen.lastIndexOf(1), { timeout: 10_000 }).toBeGreaterThan(0)
    await expect.poll(() => afterCut().slice(0, 3)).toEqual([1, 2, 3])
    await expect.poll(() => world.streams()).toBe(1)
    stop()
    await expect.poll(() => world.streams()).toBe(0)
  })

  it('follows a live query to its third update, through a cut of the network, and unsubscribing leaves no work', async () => {
    const seen: string[] = []
    const stop = open(create).follow(LIVE, ({ user }) => seen.push(user.name))
    await expect.poll(() => seen).toEqual(['Ada'])
    await world.rename('Eve')
    await expect.poll(() => seen).toEqual(['Ada', 'Eve'])
    await world.rename('Joan')
    await expect.poll(() => seen).toEqual(['Ada', 'Eve', 'Joan'])
    world.cut()
    await world.rename('Grace')
    await expect.poll(() => seen.at(-1), { timeout: 10_000 }).toBe('Grace')
    stop()
    const settled = async (): Promise<number> => {
      const before = world.reads()
      await world.rename('Nobody')
      await new Promise((resolve) => setTimeout(resolve, 50))
      return world.reads() - before
    }
    await expect.poll(settled).toBe(0)
    expect(seen.at(-1)).toBe('Grace')
  })
})
