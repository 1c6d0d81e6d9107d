import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, requestMultipart, type Tally } from '@vinyasa/test-kit'
import type { Cluster } from './cluster.ts'
import type { Model } from './model.ts'
import {
  changeOf,
  type Data,
  drawDeferred,
  drawMutation,
  drawRead,
  type Mutation,
  type Operation,
  readOf,
  seenIn,
} from './operations.ts'

/** The codes that a client may get while backends come and go. */
export const ALLOWED_CODES: ReadonlySet<string> = new Set(['SERVICE_UNAVAILABLE', 'TIMEOUT'])

/** Nothing may take longer than this: the deadline of a call is 15 s. */
const PATIENCE_MS = 20_000

export interface World {
  readonly cluster: Cluster
  readonly model: Model
  /** Ends all clients. */
  readonly stop: AbortSignal
  /** Mutations wait while this is true. */
  isQuiet: boolean
  /** Mutations that wait for their answer. */
  mutating: number
  readonly tally: Tally
}

/** Milliseconds since the Unix epoch, steadily. */
export const now = (): number => performance.timeOrigin + performance.now()

interface Fault {
  readonly message?: string
  readonly extensions?: { readonly code?: unknown } | undefined
}

/** Counts errors; one without a code that is allowed breaks the rules. */
export function judgeErrors(world: World, errors: readonly Fault[] | undefined, how: string): void {
  for (const { message, extensions } of errors ?? []) {
    const code = String(extensions?.code)
    world.tally.add(`error ${code}`)
    if (!ALLOWED_CODES.has(code)) world.model.violate(`error: ${code} "${message}" (${how})`)
  }
}

interface Answer {
  readonly gateway: number
  readonly ok: boolean
}

/** Every other client is another user, with cache entries and live groups of its own. */
export const headersOf = (client: number): Record<string, string> => ({
  'content-type': 'application/json',
  authorization: `Bearer ${client % 2 === 0 ? 'even' : 'odd'}`,
})

/** Sends one operation and tells the model what came back. */
export async function send(
  world: World,
  client: number,
  slotIndex: number,
  operation: Omit<Operation, 'id'> & { readonly id?: string },
): Promise<Answer> {
  const { cluster, model, tally } = world
  const { gateway, url } = cluster.slots[slotIndex]!
  const startedAt = now()
  const failed = (why: string): Answer => {
    if (!world.stop.aborted)
      model.violate(`${why} (gateway ${gateway}, ${operation.name}, ${time(startedAt)})`)
    return { gateway, ok: false }
  }
  try {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: headersOf(client),
      body: JSON.stringify({ query: operation.query }),
      signal: AbortSignal.any([world.stop, AbortSignal.timeout(PATIENCE_MS)]),
    })
    const text = await response.text()
    const endedAt = now()
    const outcome = response.headers.get('x-cache') ?? 'none'
    tally.add(`status ${response.status}`)
    tally.add(`cache ${outcome}`)
    const { data, errors } = JSON.parse(text) as { data?: Data | null; errors?: Fault[] }
    const how = `${operation.name}, ${outcome}`
    judgeErrors(world, errors, how)
    if (response.status !== 200 && !errors) return failed(`answer: status ${response.status} without errors`)
    for (const [key, value] of seenIn(data, operation.id ?? ''))
      model.observed({ gateway, key, value, startedAt, endedAt, how })
    return { gateway, ok: errors === undefined }
  } catch (error) {
    const { name, cause } = error as Error & { cause?: NodeJS.ErrnoException }
    return failed(`no answer: ${name} ${cause?.code ?? (error as Error).message} ${cause?.message ?? ''}`)
  }
}

export const time = (at: number): string => new Date(at).toISOString().slice(14, 23)

/** Between operations; rejects when the run is over. */
async function pause(world: World, random: Random, low: number, high: number): Promise<void> {
  await sleep(random.between(low, high), undefined, { signal: world.stop })
}

type Run = (world: World, client: number, random: Random) => Promise<void>

/** Asks the same few questions again and again, so that many come from a cache. */
export const runReader: Run = async (world, client, random) => {
  for (;;) {
    await pause(world, random, 500, 5_000)
    await send(world, client, random.below(2), drawRead(random))
  }
}

let mutations = 0

export async function mutate(
  world: World,
  client: number,
  slotIndex: number,
  { key, token, query }: Mutation,
): Promise<void> {
  world.mutating++
  const { gateway, ok } = await send(world, client, slotIndex, { name: `change of ${key}`, query })
  world.model.answered({ gateway, key, token, ok, answeredAt: now() })
  world.mutating--
}

/** A change of the key that no one has made before. */
export const freshChange = (key: string): Mutation => changeOf(key, ++mutations)

/** Changes something, and mostly looks at once whether it is changed. */
export const runMutator: Run = async (world, client, random) => {
  for (;;) {
    await pause(world, random, 2_000, 8_000)
    const slot = random.below(2)
    const mutation = drawMutation(random, ++mutations)
    const looks = random.chance(0.7)
    if (world.isQuiet) continue
    await mutate(world, client, slot, mutation)
    if (looks) await send(world, client, slot, readOf(mutation.key))
  }
}

interface Part {
  readonly data?: Data | null
  readonly errors?: Fault[]
  readonly hasNext?: boolean
  readonly incremental?: readonly {
    readonly data?: object | null
    readonly path: readonly (string | number)[]
    readonly errors?: Fault[]
  }[]
}

/** Asks with `@defer` and reads all parts; now and then leaves after the first. */
export const runDeferrer: Run = async (world, client, random) => {
  const { cluster, model, tally } = world
  for (;;) {
    await pause(world, random, 2_000, 7_000)
    const operation = drawDeferred(random)
    const { gateway, url } = cluster.slots[random.below(2)]!
    const leaves = random.chance(0.15)
    const startedAt = now()
    const violate = (what: string): void =>
      world.stop.aborted
        ? undefined
        : model.violate(`${what} (gateway ${gateway}, ${operation.name}, ${time(startedAt)})`)
    try {
      const response = await requestMultipart(`${url}/graphql`, {
        headers: { ...headersOf(client), accept: 'multipart/mixed' },
        body: { query: operation.query },
      })
      if (leaves && response.boundary) {
        await response.nextPart(PATIENCE_MS)
        response.abort()
        tally.add('deferred, left')
        continue
      }
      // Where nothing is left to defer, as after an error above it, the answer is plain JSON.
      const parts = response.boundary
        ? (await response.allParts(PATIENCE_MS)).map((part) => part.json() as Part)
        : [{ ...(JSON.parse(await response.text(PATIENCE_MS)) as Part), hasNext: false }]
      const { complete } = await response.ended
      if (!response.boundary) tally.add('deferred, all at once')
      if ((response.boundary && !complete) || parts.at(-1)?.hasNext !== false)
        violate('parts: the delimiter was not closed')
      tally.add('deferred parts', parts.length)
      const data = structuredClone(parts[0]?.data ?? null)
      judgeErrors(world, parts[0]?.errors, operation.name)
      for (const patch of parts.flatMap(({ incremental }) => incremental ?? [])) {
        judgeErrors(world, patch.errors, operation.name)
        let place: any = data
        for (const step of patch.path) place = place?.[step]
        if (place && patch.data) Object.assign(place, patch.data)
      }
      for (const [key, value] of seenIn(data, operation.id))
        model.observed({ gateway, key, value, startedAt, endedAt: now(), how: operation.name })
    } catch (error) {
      violate(`no answer: ${(error as Error).message}`)
    }
  }
}
