import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDisposables, startNats, startNetwork, startRedis, startRestBackend } from '@vinyasa/test-kit'
import { start } from '../../pairs/start.ts'
import type { Networks } from './states.ts'

export const BUSES = ['redis', 'nats'] as const
export type BusKind = (typeof BUSES)[number]

export interface Read {
  readonly value: number
  readonly isHit: boolean
}

/** Two gateways over one broker, each behind a network of its own, in front of one backend that counts. */
export interface Fleet {
  readonly networks: Networks
  /** Adds to a count by a mutation of the writer, and returns what it answers. */
  write(id: number): Promise<number>
  /** Asks the reader, or the writer, for a count. */
  read(id: number, whom?: 'reader' | 'writer'): Promise<Read>
  /** The lines that a gateway has logged. */
  log(whom: 'reader' | 'writer'): readonly string[]
  /** Whether mutations of the writer waited for the reader at a time, in milliseconds since 1970, by what it has logged. */
  wasAwaited(at: number): boolean
  [Symbol.asyncDispose](): Promise<void>
}

export async function startFleet(kind: BusKind): Promise<Fleet> {
  const disposables = createDisposables()
  try {
    return await openFleet(kind, disposables)
  } catch (error) {
    await disposables.dispose()
    throw error
  }
}

async function openFleet(kind: BusKind, disposables: ReturnType<typeof createDisposables>): Promise<Fleet> {
  const { use } = disposables
  const counts = new Map<string, number>()
  const backend = use(
    await startRestBackend(({ method, url }) => {
      const id = url.pathname.slice(1)
      if (method === 'PUT') counts.set(id, (counts.get(id) ?? 0) + 1)
      return { json: { id, value: counts.get(id) ?? 0 } }
    }),
  )
  const broker = use(kind === 'redis' ? await startRedis() : await startNats())
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-parted-'))
  use(() => rmSync(folder, { recursive: true, force: true }))

  async function openGateway(name: string) {
    const network = use(await startNetwork(broker.port))
    const address = `${kind}://127.0.0.1:${network.port}`
    const file = join(folder, `${name}.json`)
    writeFileSync(file, JSON.stringify({ ...config(backend.url), ...busOf(kind, address) }))
    const { process, port } = await start({ file })
    use(process)
    return { network, lines: process.lines, endpoint: `http://127.0.0.1:${port}/graphql` }
  }

  const [writer, reader] = await Promise.all([openGateway('writer'), openGateway('reader')])
  return {
    networks: { writer: writer.network, reader: reader.network },
    write: async (id) => (await ask(writer.endpoint, `mutation { add(id: "${id}") { id value } }`)).value,
    read: (id, whom = 'reader') =>
      ask((whom === 'reader' ? reader : writer).endpoint, `{ count(id: "${id}") { id value } }`),
    log: (whom) => (whom === 'reader' ? reader : writer).lines,
    wasAwaited(at) {
      const before = writer.lines.filter((line) => timeOf(line) <= at)
      const lastOf = (pattern: RegExp): number => before.findLastIndex((line) => pattern.test(line))
      return UNAWAITED.every(([begin, end]) => lastOf(begin) <= lastOf(end))
    },
    [Symbol.asyncDispose]: disposables.dispose,
  }
}

/** What a gateway logs when its mutations' answers do not wait for another one, and when that is over. */
const UNAWAITED = [
  [/responses no longer wait for all gateways/, /responses wait for all gateways again/],
  [/ lost; /, / restored; /],
  [/a gateway stopped responding/, /all gateways respond again/],
] as const

function timeOf(line: string): number {
  try {
    return (JSON.parse(line) as { readonly time?: number }).time ?? Infinity
  } catch {
    return Infinity
  }
}

const busOf = (kind: BusKind, address: string): object =>
  kind === 'redis' ? { redisUrl: address } : { nats: { servers: address } }

function config(baseUrl: string): object {
  const endpoint = {
    path: '/{id}',
    args: { id: 'ID!' },
    responseSchema: { typeName: 'Count', fields: { id: 'id!', value: 'int!' } },
  }
  return {
    log: { format: 'json' },
    // What a mutation changes is one entity, so that each is a round of its own.
    responseCache: { strategy: 'entities', defaultTtlMs: 600_000 },
    rest: {
      counts: {
        baseUrl,
        endpoints: [
          { ...endpoint, name: 'count' },
          { ...endpoint, name: 'add', method: 'PUT' },
        ],
      },
    },
  }
}

async function ask(endpoint: string, query: string): Promise<Read> {
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  const { data, errors } = (await answer.json()) as {
    readonly data?: Readonly<Record<string, { readonly value: number } | null>>
    readonly errors?: unknown
  }
  const { value } = Object.values(data ?? {})[0] ?? {}
  if (value === undefined) throw new Error(`No count came: ${JSON.stringify(errors)}`)
  return { value, isHit: answer.headers.get('x-cache') === 'HIT' }
}
