import { connectRawWebSocket } from '@vinyasa/test-kit'
import { startCluster } from '../chaos/cluster.ts'
import { heapOf } from '../support/heap.ts'

export interface StrangersOptions {
  /** The share of each count that is asked; 1 is all. */
  readonly share: number
  readonly print: (line: string) => void
}

export interface StrangersReport {
  readonly name: string
  /** Of the heap, from the end of the first pass to that of the last. */
  readonly growth: number
  readonly failures: readonly string[]
}

interface Kind {
  readonly name: string
  readonly count: number
  /** What went wrong, if anything. `turn` is another one each time, over all passes. */
  ask(url: string, turn: number): Promise<string | undefined>
}

const PASSES = 3
const AT_A_TIME = 16

/** More than the documents for which a gateway has room. */
const NEW_SHAPES: Kind = {
  name: 'new shapes',
  count: 20_000,
  ask: (url, turn) => post(url, { query: `{ a${turn}: user(id: "1") { b${turn}: name } }` }),
}

/** What a gateway remembers of strangers: documents, cached answers, sockets that came and went. */
const KINDS: readonly Kind[] = [
  NEW_SHAPES,
  {
    name: 'cache keys',
    count: 60_000,
    ask: (url, turn) =>
      post(url, {
        query: 'query ($limit: Int) { users(limit: $limit) { totalCount users { id name } } }',
        variables: { limit: turn + 1 },
      }),
  },
  { name: 'sockets', count: 10_000, ask: (url) => comeAndGo(url) },
]

/** Passes of each kind over one gateway: the first one fills what is bounded, and the others must add nothing. */
export async function runStrangers({ share, print }: StrangersOptions): Promise<StrangersReport[]> {
  await using cluster = await startCluster()
  const [{ url, process }] = cluster.slots
  const reports: StrangersReport[] = []
  for (const kind of KINDS) {
    const count = Math.ceil(kind.count * share)
    const failures: string[] = []
    const heaps: number[] = []
    for (let pass = 0; pass < PASSES; pass++) {
      failures.push(...(await askAll(kind, url, pass * count, count)))
      const { heapMb, residentMb } = await heapOf(process)
      heaps.push(heapMb)
      print(
        `${kind.name}, pass ${pass + 1} of ${count}: heap ${heapMb.toFixed(1)} MB, resident ${residentMb.toFixed(0)} MB`,
      )
    }
    reports.push({ name: kind.name, growth: heaps.at(-1)! / heaps[0]! - 1, failures })
  }
  return reports
}

/** Leaves a gateway no room for one document more, so that those of what follows take the place of others. */
export async function fillDocuments(url: string): Promise<readonly string[]> {
  return await askAll(NEW_SHAPES, url, 0, NEW_SHAPES.count)
}

async function askAll(kind: Kind, url: string, from: number, count: number): Promise<string[]> {
  const failures: string[] = []
  let turn = from
  const client = async (): Promise<void> => {
    while (turn < from + count) {
      const failure = await kind.ask(url, turn++).catch(String)
      if (failure) failures.push(`${kind.name}: ${failure}`)
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, client))
  return failures
}

async function post(url: string, body: object): Promise<string | undefined> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return response.ok && !text.includes('"errors"') ? undefined : `${response.status} ${text.slice(0, 200)}`
}

/** A live query that gets its first result, and leaves without a word. */
async function comeAndGo(url: string): Promise<string | undefined> {
  const socket = await connectRawWebSocket(`${url.replace('http', 'ws')}/graphql/live`)
  socket.sendJson({ type: 'connection_init' })
  await socket.nextJson()
  socket.sendJson({
    type: 'subscribe',
    id: '1',
    payload: { query: 'query @live { getProduct(id: "1") { id name } }' },
  })
  const first = await socket.nextJson()
  socket.terminate()
  return (first as { type?: string }).type === 'next' ? undefined : JSON.stringify(first).slice(0, 200)
}
