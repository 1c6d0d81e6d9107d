import { fileURLToPath } from 'node:url'
import { followLiveEvents, waitUntil } from '@vinyasa/test-kit'
import { usageOf } from '../src/process-usage.ts'
import { startGateway } from '../src/start-gateway.ts'

/** Milliseconds of the clock that all processes of a machine share. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6

interface Item {
  /** When its resolver ran. */
  readonly at: number
}

/** One process, with one live query that is followed. */
export interface RunningGateway {
  /** When the live query's resolver ran, each time since this was emptied. */
  readonly runs: number[]
  cpuMs(): number
  /** Resolves with when the resolver ran. */
  change(): Promise<number>
  /** Resolves with when the resolver of the answer ran, which may come from the cache. */
  read(): Promise<{ readonly at: number; readonly isHit: boolean }>
  [Symbol.asyncDispose](): Promise<void>
}

export async function startFleetGateway(env: Readonly<Record<string, string>>): Promise<RunningGateway> {
  const started = await startGateway(fileURLToPath(new URL('fleet.config.mjs', import.meta.url)), env)
  const endpoint = `${started.url}/graphql`
  const runs: number[] = []
  const leaving = new AbortController()
  const followed = followLiveEvents(endpoint, {
    query: 'query @live { item { id at } }',
    signal: leaving.signal,
    onUpdate: ({ data }) => void runs.push((data as { readonly item: Item }).item.at),
  }).catch((error: unknown) => {
    if (!leaving.signal.aborted) throw error
  })
  await Promise.race([followed, waitUntil(() => runs.length > 0, { awaited: 'the first live result' })])
  return {
    runs,
    cpuMs: () => usageOf(started.pid).cpuMs,
    change: async () => (await ask(endpoint, 'mutation { change { id at } }')).at,
    read: () => ask(endpoint, '{ item { id at } }'),
    async [Symbol.asyncDispose]() {
      leaving.abort()
      await started[Symbol.asyncDispose]()
    },
  }
}

async function ask(endpoint: string, query: string): Promise<Item & { readonly isHit: boolean }> {
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  const { data, errors } = (await answer.json()) as {
    readonly data?: Readonly<Record<string, Item>>
    readonly errors?: unknown
  }
  const { at } = Object.values(data ?? {})[0] ?? {}
  if (at === undefined) throw new Error(`Expected an item, got ${JSON.stringify(errors)}`)
  return { at, isHit: answer.headers.get('x-cache') === 'HIT' }
}
