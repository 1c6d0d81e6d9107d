import { setTimeout as sleep } from 'node:timers/promises'
import { constant } from 'fast-check'
import type { Feature, Value } from '../feature.ts'
import { isFromCache, outcomesOf } from '../judge.ts'
import type { Run, Sent } from '../run.ts'

interface Scrape {
  readonly status: number
  readonly text: string
  /** How many requests had been sent by then. */
  readonly sent: number
  /** By the clock of the backends' records. */
  readonly at: number
}

const REQUESTS = 'vinyasa_http_request_duration_seconds_count'
const ofPath = (path: string): string => `path="${path}"`
const TOKEN = 'a token of the scraper'

const scrape =
  (path: string, token?: string): NonNullable<Value['during']> =>
  async ({ url, endpoint, keep, countSent }) => {
    const graphql = endpoint.slice(url.length)
    // Last of all, so that it has seen everything.
    return async () => {
      const sent = countSent()
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const ask = async (): Promise<Scrape> => {
        const response = await fetch(`${url}${path}`, { headers })
        return { status: response.status, text: await response.text(), sent, at: performance.now() }
      }
      // Streams that clients have just left are counted when the gateway has heard of it, runs of live queries when they begin,
      // and the operations that they are when they end.
      let scraped = await ask()
      for (let same = 0, turn = 0; same < 5 && turn < 50; turn++) {
        await sleep(100)
        const next = await ask()
        const isQuiet =
          requestsIn(next, graphql) === requestsIn(scraped, graphql) && liveRunsIn(next) === liveEndsIn(next)
        same = isQuiet ? same + 1 : 0
        scraped = next
      }
      keep('metrics', scraped)
    }
  }

const requestsIn = ({ text }: Scrape, path: string): string =>
  [...samplesOf(text, REQUESTS, 'status', ofPath(path))].join()

const liveRunsIn = ({ text }: Scrape): number =>
  Number(/^vinyasa_live_executions_total (\d+)$/m.exec(text)?.[1] ?? 0)

const liveEndsIn = ({ text }: Scrape): number =>
  samplesOf(text, 'vinyasa_operations_total', 'type').get('live') ?? 0

/** Sums of the samples of one metric, by one label. */
function samplesOf(text: string, name: string, label: string, only = ''): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const line of text.split('\n')) {
    if (!line.startsWith(`${name}{`) || !line.includes(only)) continue
    const value = new RegExp(`${label}="([^"]*)"`).exec(line)?.[1] ?? ''
    sums.set(value, (sums.get(value) ?? 0) + Number(line.slice(line.lastIndexOf(' '))))
  }
  return sums
}

function counts(keys: readonly string[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  for (const key of keys) times.set(key, (times.get(key) ?? 0) + 1)
  return times
}

/** `unsure`: how many more there may be. */
function* differences(
  what: string,
  told: ReadonlyMap<string, number>,
  seen: ReadonlyMap<string, number>,
  unsure: ReadonlyMap<string, number> = new Map(),
) {
  for (const key of new Set([...told.keys(), ...seen.keys()])) {
    const [counted, were] = [told.get(key) ?? 0, seen.get(key) ?? 0]
    if (counted < were || counted > were + (unsure.get(key) ?? 0))
      yield `${what} of /metrics are not what was sent: ${key} ${counted}, not ${were}`
  }
}

function* observe(run: Run): Generator<string> {
  const { kept, sent: whole, beside, path, drawn, row } = run
  const scrape = kept.get('metrics') as Scrape
  const { status, text, sent: count } = scrape
  if (status !== 200) {
    yield `/metrics answers with another status: ${status}`
    return
  }
  const sent = whole.slice(0, count)
  const told = (name: string, label: string, only?: string): ReadonlyMap<string, number> =>
    samplesOf(text, name, label, only)
  const requests = told(REQUESTS, 'status', ofPath(path))
  const statuses = plus(
    counts([...sent.map(({ status }) => String(status)), ...beside.statuses]),
    '200',
    beside.requests,
  )
  yield* differences('requests', requests, statuses)
  yield* differences(
    'errors',
    told('vinyasa_errors_total', 'code'),
    counts([...sent.flatMap(codesOf), ...beside.codes]),
  )
  const outcomes = counts(sent.flatMap((one) => outcomesOf(one).map((outcome) => outcome.toLowerCase())))
  const isCached = outcomes.size > 0
  const seen = plus(outcomes, 'bypass', isCached ? beside.bypassed : 0)
  yield* differences('outcomes of the cache', told('vinyasa_cache_requests_total', 'outcome'), seen)
  // Of those that are executed, or refused in that place; runs of live queries are those that their own counter says.
  const executed = counts(
    sent.flatMap((one) =>
      one.operations.flatMap((asked, index) => {
        const isLate = drawn.some(({ value }) => value.refusesLate?.(asked, one) === true)
        const isCounted = asked.answer.data !== undefined || isLate
        return isCounted && !isFromCache(one, index) ? [asked.operation.type] : []
      }),
    ),
  )
  const asked = plus(plus(executed, 'query', beside.queries), 'mutation', beside.mutations)
  // At most one run of each live query was under way when the gateway ended it.
  const all = plus(asked, 'live', Math.max(0, liveRunsIn(scrape) - beside.endedLive))
  const unsure = new Map([
    ['query', beside.unheard],
    ['live', Math.min(liveRunsIn(scrape), beside.endedLive)],
  ])
  yield* differences('operations', told('vinyasa_operations_total', 'type'), all, unsure)
  // Of two gateways a backend does not know which has called.
  if (row['gateways'] === '1') yield* calls(run, scrape)
}

const CALLS = 'vinyasa_backend_call_duration_seconds_count'
/** Statuses with which the backends answer. */
const ANSWERED = /^(OK|INVALID_ARGUMENT|\d+)$/

/** Each call that a backend has answered is counted once; one that was given up may not have come to it. */
function* calls(run: Run, { text, at }: Scrape): Generator<string> {
  const came = callsBefore(run, at)
  for (const kind of ['grpc', 'rest']) {
    const got = came.get(kind) ?? 0
    const told = [...samplesOf(text, CALLS, 'status', `kind="${kind}"`)]
    const answered = sum(told.filter(([status]) => ANSWERED.test(status)))
    // An RPC that is sent again is counted once.
    const again = samplesOf(text, 'vinyasa_backend_retries_total', 'kind').get('grpc') ?? 0
    const all = sum(told) + (kind === 'grpc' ? again : 0)
    if (got < answered || got > all)
      yield `calls of backends of /metrics are not what they got: ${kind} ${answered} to ${all}, not ${got}`
  }
}

const sum = (times: readonly (readonly [string, number])[]): number =>
  times.reduce((total, [, more]) => total + more, 0)

/** Probes of readiness are no calls: by HEAD, or by the path that a source states. */
const isProbe = ({ method, rawUrl }: Run['restRequests'][number]): boolean =>
  method === 'HEAD' || rawUrl.endsWith('?health')

/** Of both backends, by the kind of source. */
function callsBefore({ grpcCalls, restRequests }: Run, at: number): ReadonlyMap<string, number> {
  const grpc = grpcCalls.filter((call) => call.at < at && call.method.startsWith('library.'))
  const rest = restRequests.filter((request) => request.at < at && !isProbe(request))
  return counts([...grpc.map(() => 'grpc'), ...rest.map(() => 'rest')])
}

const plus = (times: ReadonlyMap<string, number>, key: string, more: number): ReadonlyMap<string, number> =>
  more === 0 ? times : new Map([...times, [key, (times.get(key) ?? 0) + more]])

/** The codes of all errors in an answer. What refuses a whole batch is one. */
function codesOf({ operations, isRefusedWhole }: Sent): string[] {
  return (isRefusedWhole ? operations.slice(0, 1) : operations).flatMap(({ answer }) =>
    (answer.errors ?? []).map(({ extensions }) => String(extensions?.['code'] ?? 'INTERNAL_SERVER_ERROR')),
  )
}

/** The last one, as it scrapes when all else is over. */
export const metrics: Feature = {
  name: 'metrics',
  settings: ['metrics'],
  values: [
    {
      name: 'off',
      config: () => constant({ metrics: false }),
      during: scrape('/metrics'),
      *observe({ kept }) {
        const { status } = kept.get('metrics') as Scrape
        if (status !== 404) yield `/metrics is off and answers: ${status}`
      },
    },
    { name: 'on', config: () => constant({ metrics: true }), during: scrape('/metrics'), observe },
    {
      name: 'token',
      config: () => constant({ metrics: { token: TOKEN } }),
      during: scrape('/metrics', TOKEN),
      observe,
    },
  ],
}
