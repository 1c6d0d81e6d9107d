import { setTimeout as sleep } from 'node:timers/promises'
import { followLiveEvents, followLiveFrames, type LiveUpdate, type Random } from '@vinyasa/test-kit'
import { headersOf, judgeErrors, now, time, type World } from './client.ts'
import { type Data, drawLive, type Operation, seenIn, type Seen } from './operations.ts'

/** Close codes that tell a client to come back: the server goes away, or the connection broke. */
const COME_BACK: ReadonlySet<number> = new Set([1001])

export interface LiveClient {
  readonly name: string
  /** What it showed last; undefined while it has nothing or an error to show. */
  readonly shown: Seen | undefined
  /** For the report. */
  describe(): string
  /** Resolves when the run is over. */
  readonly done: Promise<void>
}

/** Keeps one live query open, over one gateway after another. */
export function startLiveClient(
  world: World,
  client: number,
  random: Random,
  transport: 'WebSocket' | 'SSE',
): LiveClient {
  const operation = drawLive(random)
  const name = `${operation.name} over ${transport}`
  let shown: Seen | undefined
  let last = 'nothing yet'
  let gatewayNow = -1

  async function run(): Promise<void> {
    while (!world.stop.aborted) {
      await sleep(random.between(50, 800), undefined, { signal: world.stop }).catch(() => {})
      const { gateway, url } = world.cluster.slots[random.below(2)]!
      gatewayNow = gateway
      shown = undefined
      const startedAt = now()
      const places = new Map<string, number>()
      let isFirst = true

      const onUpdate = ({ data, errors }: LiveUpdate): void => {
        world.tally.add('live updates')
        judgeErrors(world, errors, name)
        const seen = seenIn(data as Data | null, operation.id)
        last = `${time(now())} ${JSON.stringify(errors ?? seen.map(([key, value]) => [key, value.slice(-30)]))}`
        shown = errors ? undefined : seen
        for (const [key, value] of seen) {
          if (isFirst)
            world.model.observed({
              gateway,
              key,
              value,
              startedAt,
              endedAt: now(),
              how: `${name}, first result`,
            })
          checkOrder(key, value, places)
        }
        isFirst = false
      }
      await (transport === 'SSE' ? readEvents : readFrames)(world, {
        client,
        url,
        operation,
        onUpdate,
      }).catch((error: unknown) => {
        if (!world.stop.aborted && !isCut(error))
          world.model.violate(
            `live: ${(error as Error).message} ${String((error as Error).cause ?? '')} (gateway ${gateway}, ${name}, ${time(now())})`,
          )
      })
      world.tally.add('live connections ended')
    }
  }

  /** Commits are told to the model later than updates come, so order is judged where both values are known. */
  function checkOrder(key: string, value: string, places: Map<string, number>): void {
    const index = world.model.indexOf(key, value)
    if (index === undefined) return
    const before = places.get(key) ?? -1
    if (index < before)
      world.model.violate(`live: ${key} went back to ${value.slice(-60)} (${name}, ${time(now())})`)
    places.set(key, Math.max(before, index))
  }

  return {
    name,
    get shown() {
      return shown
    },
    describe: () => `${name} (${operation.id}) on gateway ${gatewayNow}, last: ${last}`,
    done: run(),
  }
}

/** An event stream has no code to say come back: it is cut. */
function isCut(error: unknown): boolean {
  return (error as Error).message === 'terminated'
}

interface LiveRequest {
  readonly client: number
  readonly url: string
  readonly operation: Operation
  readonly onUpdate: (update: LiveUpdate) => void
}

/** Until the server sends the client away with a code that says come back. */
async function readFrames(world: World, { client, url, operation, onUpdate }: LiveRequest): Promise<void> {
  const code = await followLiveFrames(`${url}/graphql/live`, {
    headers: headersOf(client),
    query: operation.query,
    onUpdate,
    signal: world.stop,
  })
  if (world.stop.aborted) return
  world.tally.add(`close ${code}`)
  if (!COME_BACK.has(code)) throw new Error(`closed with ${code}`)
}

/** Until the server ends the stream. */
function readEvents(world: World, { client, url, operation, onUpdate }: LiveRequest): Promise<void> {
  return followLiveEvents(`${url}/graphql`, {
    headers: headersOf(client),
    query: operation.query,
    onUpdate,
    signal: world.stop,
  })
}
