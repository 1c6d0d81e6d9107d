import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, isListening, type Nginx, startNginx, waitUntil } from '@vinyasa/test-kit'
import { drawRow, pathsOf } from './draw-row.ts'
import type { Drawn, Feature, Row } from './feature.ts'
import type { Fault } from './faults/fault.ts'
import { type Library, startLibrary } from './library.ts'
import { SLOW } from './operations.ts'
import { judgeRun } from './oracles.ts'
import type { Ending, Run, Violation } from './run.ts'
import { spansIn } from './spans.ts'
import { startServers, type Servers } from './servers.ts'
import { check, type Gateway, openFolder, start, type Started, writeConfig } from './start.ts'
import { Talk } from './talk.ts'
import { USERS, type User } from './users.ts'

export interface RowOptions {
  readonly features: readonly Feature[]
  readonly row: Row
  /** Of what is drawn of settings and operations. */
  readonly seed: number
  /** Whether `vinyasa check` is asked too. Default true. */
  readonly checks?: boolean
  /** Put back into the gateway's sources, from which it is started then. Default: none, and it is the built package. */
  readonly fault?: Fault | undefined
  /** Told the configuration's text. */
  readonly onConfig?: (file: string) => void
}

/** How much was seen. */
export interface Counts {
  readonly requests: number
  readonly mutations: number
  readonly spans: number
  readonly scrapes: number
}

export interface RowResult {
  readonly violations: readonly Violation[]
  readonly counts: Counts
}

const NOTHING_SEEN: Counts = { requests: 0, mutations: 0, spans: 0, scrapes: 0 }

/** Starts what a row describes, asks it, ends it, and judges what was seen. */
export async function runRow({
  features,
  row,
  seed,
  checks = true,
  fault,
  onConfig,
}: RowOptions): Promise<RowResult> {
  using folder = openFolder()
  using secondFolder = openFolder()
  await using library = await startLibrary()
  await using servers = await startServers(features, row)
  const drawFor = (addresses: Servers['first'], path: string): readonly Drawn[] =>
    drawRow(features, row, seed, {
      ...addresses,
      folder: path,
      grpc: library.grpc.address,
      rest: library.rest.url,
    })
  const drawn = drawFor(servers.first, folder.path)
  const paths = pathsOf(drawn)
  const gateway: Gateway = {
    file: writeConfig(folder.path, drawn, createRandom(seed, 'row')),
    folder: folder.path,
    readyPath: paths.ready,
    args: drawn.flatMap(({ value }) => value.args ?? []),
    imports: drawn.flatMap(({ value }) => value.imports ?? []),
    workers: Number(row['workers'] ?? 1),
    launcher: row['launcher'] ?? 'node',
    fault,
  }
  onConfig?.(gateway.file)
  const checked = checks ? await check(gateway) : undefined
  if (checked && checked.code !== 0)
    return { violations: [{ rule: 'check', what: checked.output }], counts: NOTHING_SEEN }
  let started: Started
  let second: Started | undefined
  try {
    started = await start(gateway)
  } catch (error) {
    return { violations: [{ rule: 'start', what: (error as Error).message }], counts: NOTHING_SEEN }
  }
  await using _process = started.process
  if (servers.second) {
    const path = secondFolder.path
    const file = writeConfig(path, drawFor(servers.second, path), createRandom(seed, 'row'))
    second = await start({ ...gateway, file, folder: path, launcher: 'node' })
  }
  await using _second = second?.process
  const address = `http://127.0.0.1:${started.port}`
  await using proxy = await startProxy(address, row['proxy'])
  const linesAtStart = [...started.process.lines]
  const talk = new Talk({
    drawn,
    library,
    seed,
    url: proxy ? `http://127.0.0.1:${proxy.port}` : address,
    secondUrl: second && `http://127.0.0.1:${second.port}`,
    folder: folder.path,
    path: paths.graphql,
    signal: (name) => started.process.signal(name),
  })
  const over = await Promise.all(
    drawn.map(async ({ feature, value, piece }) => value.during?.(talk.session(feature.name), piece)),
  )
  await talk.rounds()
  await talk.callers()
  await sleep(Math.max(0, ...drawn.map(({ value }) => value.afterwardsMs ?? 0)))
  if (row['gateways'] === '2') await talk.far(servers.networks)
  if (row['gateways'] === 'parted') await talk.parted(servers.networks)
  const known = await talk.known()
  for (const end of over) await end?.()
  const ending = await endProcess(talk, library, started)
  const run: Run = {
    row,
    drawn,
    reference: talk.reference,
    states: library.states,
    sent: talk.sent,
    sentElsewhere: talk.sentElsewhere,
    beside: talk.beside,
    known,
    lines: started.process.lines,
    linesAtStart,
    check: checked,
    grpcCalls: library.grpc.calls,
    restRequests: library.rest.requests,
    ending,
    said: talk.said,
    kept: talk.kept,
    folder: folder.path,
    path: paths.graphql,
  }
  return { violations: judgeRun(run), counts: countsOf(run) }
}

/** nginx as it is shipped, or with what it takes to let sockets through. */
async function startProxy(address: string, kind = 'off'): Promise<Nginx | undefined> {
  if (kind === 'off') return undefined
  const passed = `proxy_pass ${address}; proxy_set_header Host $http_host;`
  if (kind !== 'nginx') return startNginx({ location: passed })
  return startNginx({
    location: `${passed} proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;`,
    http: "map $http_upgrade $connection_upgrade { default upgrade; '' ''; }",
  })
}

function countsOf({ sent, sentElsewhere, beside, kept, folder }: Run): Counts {
  const all = [...sent, ...sentElsewhere]
  return {
    requests: all.length + beside.requests + beside.statuses.length,
    mutations:
      beside.mutations +
      all.flatMap(({ operations }) => operations).filter(({ operation }) => operation.type === 'mutation')
        .length,
    spans: spansIn(folder).length,
    scrapes: kept.has('metrics') ? 1 : 0,
  }
}

/** SIGTERM, when what is under way has reached the backend. */
async function endProcess(
  talk: Talk,
  library: Library,
  { process: gateway, port, isGone }: Started,
): Promise<Ending> {
  const caller = USERS[0] as User
  const slow = talk.send(caller, [SLOW], talk.plainWay())
  await Promise.race([slow, waitUntil(() => library.rest.requests.some(({ rawUrl }) => rawUrl === '/slow'))])
  const began = performance.now()
  const { code, signal } = await gateway.kill('SIGTERM', 40_000)
  const isLeft = await waitUntil(isGone, { timeoutMs: 10_000, awaited: 'the end of all processes' }).then(
    () => false,
    () => true,
  )
  const ms = Math.round(performance.now() - began)
  const underWay = (await slow).operations[0]?.answer
  return { code, signal, ms, isListening: await isListening(port), isLeft, underWay }
}
