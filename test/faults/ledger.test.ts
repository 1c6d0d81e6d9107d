import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectRawWebSocket, startRestBackend, waitUntil } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { startGateway, type RunningGateway } from './support/gateway.ts'

const LEFT = 499
const JSON_TYPE = 'application/json'
const SECRET = 'a secret that is long enough for HS256'

/** Statuses by how often a client saw them; 499: it left before it saw one. */
class Ledger {
  readonly #counts = new Map<number, number>()

  add(status: number, times = 1): void {
    if (times > 0) this.#counts.set(status, (this.#counts.get(status) ?? 0) + times)
  }

  get counts(): object {
    return Object.fromEntries(this.#counts)
  }
}

interface Ask {
  readonly url: string
  readonly query?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly from?: string
  /** Leaves when the head has come, or after so many milliseconds without one. */
  readonly leaveAfterMs?: number
}

/** Sends one request on a connection of its own, and gives the status that it saw. */
function ask({ url, query = '{ item { name } }', body, headers, from, leaveAfterMs }: Ask): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, {
      method: 'POST',
      agent: new Agent(),
      headers: { 'content-type': JSON_TYPE, ...headers },
      ...(from !== undefined && { localAddress: from }),
    })
    request.on('response', (response) => {
      const status = response.statusCode ?? 0
      resolve(status)
      if (leaveAfterMs !== undefined) request.destroy()
      response.on('error', () => {}).resume()
    })
    request.on('error', (error) => (leaveAfterMs === undefined ? reject(error) : resolve(LEFT)))
    request.end(body ?? JSON.stringify({ query }))
    if (leaveAfterMs !== undefined) setTimeout(() => request.destroy(), leaveAfterMs)
  })
}

/** Writes bytes that are no request, and gives the status of what comes back. */
function askRaw(url: string, bytes: string): Promise<number> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.setEncoding('latin1').on('data', (part: string) => (text += part))
    socket.on('error', reject)
    socket.on('end', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])))
  })
}

async function metricsOf(gateway: RunningGateway): Promise<string> {
  return (await fetch(`${gateway.url}/metrics`)).text()
}

function statusesIn(metrics: string): object {
  const ledger = new Ledger()
  const series = /^vinyasa_http_request_duration_seconds_count\{path="([^"]*)",status="(\d+)"\} (\d+)/gm
  for (const [, path = '', status, count] of metrics.matchAll(series))
    if (path !== '/metrics' && !path.startsWith('/health')) ledger.add(Number(status), Number(count))
  return ledger.counts
}

function valueIn(metrics: string, series: string): number {
  const line = metrics.split('\n').find((one) => one.startsWith(`${series} `))
  return Number(line?.slice(series.length + 1) ?? 0)
}

interface Line {
  readonly level: number
  readonly msg: string
  readonly status?: number
  readonly path?: string
  readonly failures?: number
  readonly operation?: string
  readonly waitedFor?: readonly string[]
}

function linesOf(gateway: RunningGateway): readonly Line[] {
  return gateway.process.lines.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []))
}

/** Statuses of the log's lines; those refused for load are in one line together. */
function statusesLogged(gateway: RunningGateway): { readonly statuses: object; readonly shed: number } {
  const ledger = new Ledger()
  let shed = 0
  for (const { msg, status, path, failures } of linesOf(gateway)) {
    if (msg === 'request' && path !== '/metrics' && !path?.startsWith('/health')) ledger.add(status ?? 0)
    if (msg === 'requests are no longer refused') shed += failures ?? 0
  }
  return { statuses: ledger.counts, shed }
}

async function start(workers: number): Promise<RunningGateway> {
  const backend = await startRestBackend(({ url }) =>
    url.pathname === '/hang' ? { write: () => new Promise(() => {}) } : { json: { name: 'Ada' } },
  )
  const endpoint = (name: string): object => ({
    name,
    // Equal calls would be one.
    path: `/${name}`,
    queryParams: { n: '{n}' },
    args: { n: 'Int' },
    responseSchema: { typeName: 'Item', fields: { name: 'string' } },
  })
  const gateway = await startGateway({
    args: ['--workers', String(workers)],
    config: {
      preset: 'production',
      metrics: true,
      server: { maxInFlight: 8, maxAddressShare: 0.5, answerTimeoutMs: 3_000 },
      graphql: { maxBodyBytes: 2_000 },
      liveQuery: { defaults: { enabled: true } },
      auth: { jwt: { issuers: [{ issuer: 'us', audience: 'us', secret: SECRET }], required: false } },
      rest: { shop: { baseUrl: backend.url, endpoints: [endpoint('item'), endpoint('hang')] } },
    },
  })
  onTestFinished(() => backend[Symbol.asyncDispose]())
  onTestFinished(() => gateway[Symbol.asyncDispose]())
  return gateway
}

it.each([1, 2])(
  '%i workers count and log every end as the client saw it',
  async (workers) => {
    const gateway = await start(workers)
    const url = `${gateway.url}/graphql`
    const ledger = new Ledger()
    const shed = new Ledger()
    const note = async (status: Promise<number>, times: Ledger = ledger): Promise<number> => {
      times.add(await status)
      return status
    }
    let asked = 0
    const hung = (): string => `query Hung { hang(n: ${asked++}) { name } }`
    const SSE = { accept: 'text/event-stream' }

    for (const headers of [{}, SSE]) {
      expect(await note(ask({ url, headers }))).toBe(200)
      expect(await note(ask({ url, headers: { ...headers, authorization: 'Bearer none' } }))).toBe(401)
      expect(await note(ask({ url, headers, body: 'x'.repeat(3_000) }))).toBe(413)
      expect(await note(ask({ url, headers: { ...headers, 'content-type': 'application/xml' } }))).toBe(415)
      // It reads the head of the stream and leaves.
      const live = { url, query: 'query @live { item { name } }', headers, leaveAfterMs: 2_000 }
      expect(await note(ask(live))).toBe(200)
      await note(ask({ url, headers, query: 'query Gone { hang { name } }', leaveAfterMs: 300 }))
    }
    await note(ask({ url, query: '{' }))
    expect(await note(askRaw(gateway.url, 'NO REQUEST\r\n\r\n'))).toBe(400)
    expect(await note(askRaw(gateway.url, 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n'))).toBe(400)
    expect(await note(ask({ url, headers: { expect: 'something' } }))).toBe(417)
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
    const notThere = `GET /nowhere HTTP/1.1\r\nHost: x\r\n${upgrade}${key}`
    expect(await note(askRaw(gateway.url, notThere))).toBe(404)

    // More at a time than all workers take: some end at the deadline, the others are refused.
    const inFlight = async (): Promise<number> =>
      valueIn(await metricsOf(gateway), 'vinyasa_http_requests_in_flight')
    const seenSoon = new Set<number>()
    async function hang(from: string, headers: Readonly<Record<string, string>>): Promise<void> {
      const status = await ask({ url, query: hung(), headers, from })
      seenSoon.add(status)
      await note(Promise.resolve(status), status === 504 ? ledger : shed)
    }
    const many: Promise<void>[] = []
    async function flood(from: string, awaited: number): Promise<void> {
      await waitUntil(
        async () => {
          many.push(hang(from, many.length % 2 ? SSE : {}))
          return seenSoon.has(awaited)
        },
        { everyMs: 5 },
      )
    }
    await flood('127.0.0.2', 429)
    await Promise.all([flood('127.0.0.3', 503), flood('127.0.0.4', 503)])
    // The scrape is in flight as well.
    expect(await inFlight()).toBeGreaterThan(4)
    expect(await inFlight()).toBeLessThanOrEqual(8 * workers + 1)
    await Promise.all(many)
    expect(ledger.counts).toMatchObject({ 504: expect.any(Number), [LEFT]: 2 })
    expect(shed.counts).toMatchObject({ 429: expect.any(Number), 503: expect.any(Number) })
    await sleep(1_100)
    // Each worker says that it refuses none any more when it serves one.
    for (let index = 0; index < 4 * workers; index++) await note(ask({ url }))

    const socket = await connectRawWebSocket(`${gateway.url.replace('http', 'ws')}/graphql/live`, {
      protocol: 'graphql-transport-ws',
    })
    const before = valueIn(await metricsOf(gateway), 'vinyasa_operations_total{type="query"}')
    socket.sendJson({ type: 'connection_init' })
    expect(await socket.nextJson()).toMatchObject({ type: 'connection_ack' })
    for (const id of ['1', '2', '3'])
      socket.sendJson({ id, type: 'subscribe', payload: { query: '{ item { name } }' } })
    await waitUntil(
      async () => valueIn(await metricsOf(gateway), 'vinyasa_operations_total{type="query"}') === before + 3,
    )
    expect(valueIn(await metricsOf(gateway), 'vinyasa_connections')).toBeGreaterThan(0)
    await socket.close()

    const seen = { ...ledger.counts }
    const counted = { ...seen, ...shed.counts }
    const metrics = await metricsOf(gateway)
    const refused = Object.values(shed.counts).reduce((sum: number, count: number) => sum + count, 0)
    expect(statusesIn(metrics)).toEqual(counted)
    const errors = (code: string): number => valueIn(metrics, `vinyasa_errors_total{code="${code}"}`)
    expect({
      503: errors('OVERLOADED'),
      429: errors('TOO_MANY_AT_ONCE'),
      504: errors('ANSWER_TIMEOUT'),
    }).toEqual({ ...shed.counts, 504: (seen as Record<number, number>)[504] })
    await waitUntil(() => statusesLogged(gateway).shed === refused)
    expect(statusesLogged(gateway)).toEqual({ statuses: seen, shed: refused })
    // One line when it begins and one when it ends, for each worker.
    const shedLines = linesOf(gateway).filter(({ msg }) => /^requests are (refused|no longer)/.test(msg))
    expect(shedLines.length).toBeLessThanOrEqual(2 * workers)
    const late504 = linesOf(gateway).filter(({ status }) => status === 504)
    expect(late504.map(({ operation, waitedFor }) => ({ operation, waitedFor }))).toEqual(
      late504.map(() => ({ operation: 'Hung', waitedFor: ['shop'] })),
    )

    // Draining: what clients still get is in the log.
    const last = ask({ url, query: hung() })
    await waitUntil(async () => (await inFlight()) === 2)
    gateway.process.signal('SIGTERM')
    await sleep(100)
    const late = new Ledger()
    for (let index = 0; index < 5; index++)
      await note(
        ask({ url }).catch(() => 0),
        late,
      )
    await note(last, late)
    const total = { ...(seen as Record<number, number>) }
    for (const [status, count] of Object.entries(late.counts) as unknown as [number, number][])
      if (Number(status) > 0) total[status] = (total[status] ?? 0) + count
    await gateway.process.exited
    expect(statusesLogged(gateway).statuses).toEqual(total)
  },
  120_000,
)
