import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { headersOf, judgeErrors, now, time, type World } from './client.ts'
import { type Data, drawLive, type Operation, seenIn, type Seen } from './operations.ts'
import type { Random } from './random.ts'

/** Close codes that tell a client to come back: the server goes away, or the connection broke. */
const COME_BACK: ReadonlySet<number> = new Set([1001])

interface Update {
  readonly data?: Data | null
  readonly errors?: readonly { readonly message: string }[]
}

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

      const onUpdate = ({ data, errors }: Update): void => {
        world.tally.add('live updates')
        judgeErrors(world, errors, name)
        const seen = seenIn(data, operation.id)
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
  readonly onUpdate: (update: Update) => void
}

/** Until the server sends the client away with a code that says come back. */
function readFrames(world: World, { client, url, operation, onUpdate }: LiveRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql/live`, 'graphql-transport-ws', {
      headers: headersOf(client),
      perMessageDeflate: false,
    })
    const leave = (): void => socket.terminate()
    world.stop.addEventListener('abort', leave, { once: true })
    socket.on('open', () => socket.send('{"type":"connection_init"}'))
    socket.on('error', reject)
    socket.on('close', (code) => {
      world.stop.removeEventListener('abort', leave)
      if (!world.stop.aborted) world.tally.add(`close ${code}`)
      if (COME_BACK.has(code) || world.stop.aborted) resolve()
      else reject(new Error(`closed with ${code}`))
    })
    socket.on('message', (bytes: Buffer) => {
      const { type, payload } = JSON.parse(bytes.toString('utf8')) as { type: string; payload?: unknown }
      switch (type) {
        case 'connection_ack':
          return socket.send(
            JSON.stringify({ id: 'a', type: 'subscribe', payload: { query: operation.query } }),
          )
        case 'next':
          return onUpdate(payload as Update)
        case 'ping':
          return socket.send('{"type":"pong"}')
        case 'pong':
          return
        default:
          // `error` and `complete` end the operation: not what a live query does.
          reject(new Error(`${type} ${JSON.stringify(payload)}`))
          socket.terminate()
      }
    })
  })
}

/** Until the server ends the stream. */
async function readEvents(world: World, { client, url, operation, onUpdate }: LiveRequest): Promise<void> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { ...headersOf(client), accept: 'text/event-stream' },
    body: JSON.stringify({ query: operation.query }),
    signal: world.stop,
  })
  if (!response.ok || !response.body) throw new Error(`status ${response.status}: ${await response.text()}`)
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const data = /^data: ?(.*)$/m.exec(event)?.[1]
      if (/^event: ?next$/m.test(event) && data) onUpdate(JSON.parse(data) as Update)
    }
  }
}
