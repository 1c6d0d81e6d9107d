import { startCluster } from '../chaos/cluster.ts'
import { type HeapSize, heapOf } from '../support/heap.ts'
import { fillDocuments } from './strangers.ts'

export interface SoakOptions {
  readonly rounds: number
  readonly secondsPerRound: number
  /** Requests under way at a time, of each kind. */
  readonly clients: number
  readonly print: (line: string) => void
}

export interface SoakRound extends HeapSize {
  readonly requests: number
  readonly failures: readonly string[]
  /** 99th percentile of the small uncached query, beside everything else. */
  readonly smallP99Ms: number
}

export interface SoakReport {
  /** The small query alone, before the rounds. */
  readonly aloneP99Ms: number
  readonly rounds: readonly SoakRound[]
}

interface Kind {
  readonly name: string
  readonly query: (turn: number) => string
  readonly headers?: Readonly<Record<string, string>>
}

const SMALL: Kind = {
  name: 'small',
  query: (turn) => `query Small${turn % 50} { user(id: "${1 + (turn % 12)}") { id name } }`,
  headers: { 'cache-control': 'no-cache' },
}

/** Small and large reads, cached and not; joins over both backends; deferred parts; mutations that evict. */
const KINDS: readonly Kind[] = [
  SMALL,
  { name: 'cached', query: () => '{ getProduct(id: "1") { id name description } }' },
  {
    name: 'large',
    query: () =>
      `{ ${Array.from({ length: 40 }, (_, part) => `p${part}: users(limit: 100) { totalCount users { id name email } }`).join(' ')} }`,
    headers: { 'cache-control': 'no-cache' },
  },
  {
    name: 'joined',
    query: (turn) =>
      `{ listReviews(productId: "${1 + (turn % 12)}") { text author { id name profile { bio } } } }`,
  },
  {
    name: 'deferred',
    query: (turn) => `{ user(id: "${1 + (turn % 12)}") { id ... @defer { profile { bio } } } }`,
    headers: { accept: 'multipart/mixed; deferSpec=20220824, application/json' },
  },
  {
    name: 'mutation',
    query: (turn) => `mutation { updateUser(id: "${1 + (turn % 12)}", name: "Name ${turn}") { id } }`,
  },
]

/** Mixed load on one gateway process with Redis, for as long as asked, once it has no room for more documents. */
export async function runSoak({ rounds, secondsPerRound, clients, print }: SoakOptions): Promise<SoakReport> {
  await using cluster = await startCluster()
  const [{ url, process }] = cluster.slots
  const done: SoakRound[] = []
  let turn = 0

  async function ask({ name, query, headers }: Kind): Promise<string | undefined> {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query: query(++turn) }),
    })
    const text = await response.text()
    return response.ok && !text.includes('"errors"')
      ? undefined
      : `${name}: ${response.status} ${text.slice(0, 200)}`
  }

  async function load(kinds: readonly Kind[], seconds: number): Promise<Omit<SoakRound, keyof HeapSize>> {
    const until = performance.now() + seconds * 1000
    const small: number[] = []
    const failures: string[] = []
    let requests = 0
    const client = async (kind: Kind): Promise<void> => {
      while (performance.now() < until) {
        const began = performance.now()
        const failure = await ask(kind)
        requests++
        if (failure) failures.push(failure)
        if (kind === SMALL) small.push(performance.now() - began)
      }
    }
    await Promise.all(kinds.flatMap((kind) => Array.from({ length: clients }, () => client(kind))))
    return { requests, failures, smallP99Ms: percentile(small, 0.99) }
  }

  const unfilled = await fillDocuments(url)
  if (unfilled.length > 0) throw new Error(`${unfilled.length} documents were refused: ${unfilled[0]}`)
  await load(KINDS, Math.min(5, secondsPerRound))
  const alone = await load([SMALL], Math.min(5, secondsPerRound))
  await heapOf(process)
  for (let round = 1; round <= rounds; round++) {
    const seen = { ...(await load(KINDS, secondsPerRound)), ...(await heapOf(process)) }
    done.push(seen)
    print(formatRound(round, seen))
  }
  return { aloneP99Ms: alone.smallP99Ms, rounds: done }
}

function formatRound(round: number, seen: SoakRound): string {
  const { requests, failures, smallP99Ms, heapMb, residentMb, loopDelayMs } = seen
  return (
    `round ${round}: ${requests} requests, ${failures.length} failed, small query p99 ${smallP99Ms.toFixed(0)} ms, ` +
    `event loop p99 ${loopDelayMs.toFixed(0)} ms, heap ${heapMb.toFixed(1)} MB, resident ${residentMb.toFixed(0)} MB`
  )
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** How much larger the heap is after the last round than after the first, as a share of it. */
export function heapGrowth({ rounds }: SoakReport): number {
  const [first] = rounds
  const last = rounds.at(-1)
  return first && last ? last.heapMb / first.heapMb - 1 : Number.NaN
}
