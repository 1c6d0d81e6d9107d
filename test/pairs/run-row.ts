import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, isListening, type Network, waitUntil } from '@vinyasa/test-kit'
import { post } from './ask.ts'
import { drawRow, kindsOf } from './draw-row.ts'
import type { Drawn, Feature, Row, Session } from './feature.ts'
import { type Library, startLibrary } from './library.ts'
import { drawMutation, drawQuery, type Operation, SLOW } from './operations.ts'
import { foreignMarks } from './judge.ts'
import { judgeRun } from './oracles.ts'
import { createReference } from './reference.ts'
import type { Answer, Beside, Ending, Run, Sent, Violation, Way } from './run.ts'
import { CLIENT_HEADER } from './client-header.ts'
import { startServers, type Servers } from './servers.ts'
import { check, openFolder, start, type Started, writeConfig } from './start.ts'
import { USERS, type User } from './users.ts'

export interface RowOptions {
  readonly features: readonly Feature[]
  readonly row: Row
  /** Of what is drawn of settings and operations. */
  readonly seed: number
  /** Whether `vinyasa check` is asked too. Default true. */
  readonly checks?: boolean
  /** Told the configuration's text. */
  readonly onConfig?: (file: string) => void
}

export interface RowResult {
  readonly violations: readonly Violation[]
  readonly requests: number
}

/** What may be served at most that is older than an answered mutation, where gateways are parted. */
const BOUND_MS = 3_500
/** How long a gateway tries to connect again, with what that takes. */
const BACK_MS = 2_000

const ROUNDS = 12
const READS = 5

/** Starts what a row describes, asks it, ends it, and judges what was seen. */
export async function runRow({
  features,
  row,
  seed,
  checks = true,
  onConfig,
}: RowOptions): Promise<RowResult> {
  using folder = openFolder()
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
  const file = writeConfig(folder.path, drawn, createRandom(seed, 'row'))
  onConfig?.(file)
  const checked = checks ? await check(file) : undefined
  if (checked && checked.code !== 0)
    return { violations: [{ rule: 'check', what: checked.output }], requests: 0 }
  const startFrom = (config: string): Promise<Started> =>
    start(
      config,
      drawn.flatMap(({ value }) => value.args ?? []),
      Number(row['workers'] ?? 1),
    )
  let started: Started
  let second: Started | undefined
  try {
    started = await startFrom(file)
  } catch (error) {
    return { violations: [{ rule: 'start', what: (error as Error).message }], requests: 0 }
  }
  await using _process = started.process
  using secondFolder = openFolder()
  if (servers.second) {
    const its = drawFor(servers.second, secondFolder.path)
    second = await startFrom(writeConfig(secondFolder.path, its, createRandom(seed, 'row')))
  }
  await using _second = second?.process
  const linesAtStart = [...started.process.lines]
  const talk = new Talk(drawn, library, started.port, seed, second?.port)
  const over = await Promise.all(
    drawn.map(async ({ feature, value, piece }) => value.during?.(talk.session(feature.name), piece)),
  )
  await talk.rounds()
  if (row['gateways'] === 'parted') await talk.parted(servers.networks)
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
    lines: started.process.lines,
    linesAtStart,
    check: checked,
    grpcCalls: library.grpc.calls,
    restRequests: library.rest.requests,
    ending,
    said: talk.said,
    kept: talk.kept,
    folder: folder.path,
  }
  return { violations: judgeRun(run), requests: talk.sent.length + talk.sentElsewhere.length }
}

/** What clients say to a gateway, and what they hear. */
class Talk {
  readonly sent: Sent[] = []
  /** Through the second gateway. */
  readonly sentElsewhere: Sent[] = []
  readonly kept = new Map<string, unknown>()
  readonly beside: Beside = { requests: 0, queries: 0, bypassed: 0 }
  readonly said: { feature: string; what: string }[] = []
  readonly reference
  readonly endpoint: string
  readonly url: string
  readonly #drawn: readonly Drawn[]
  readonly #library: Library
  readonly #random
  readonly #ways: readonly Way[]
  readonly #kinds: ReadonlySet<string>
  readonly #headers: Readonly<Record<string, string>>
  readonly #secondPort: number | undefined
  /** The state that the last answered mutation left. */
  #answered = 0
  #made = 0

  constructor(drawn: readonly Drawn[], library: Library, port: number, seed: number, secondPort?: number) {
    this.#drawn = drawn
    this.#library = library
    this.#secondPort = secondPort
    this.#random = createRandom(seed, 'talk')
    this.reference = createReference(drawn)
    this.url = `http://127.0.0.1:${port}`
    this.endpoint = `${this.url}/graphql`
    const values = drawn.map(({ value }) => value)
    const only = values.find(({ onlyWays }) => onlyWays)?.onlyWays
    this.#ways = only ?? ['post', 'get', ...values.flatMap(({ ways = [] }) => ways)]
    this.#kinds = kindsOf(values)
    this.#headers = Object.assign({}, ...values.map(({ headers }) => headers))
  }

  session(feature: string): Session {
    return {
      url: this.url,
      endpoint: this.endpoint,
      random: createRandom(this.#random.below(1e9), feature),
      headers: this.#headers,
      states: this.#library.states,
      ask: (user, operation, way = this.plainWay(), headers = {}) =>
        this.send(user, [operation], way, headers),
      beside: (what, times) => void (this.beside[what] += times),
      expected: (operation, user, state) =>
        this.reference.answer(operation, user, this.#library.states[state] as Run['states'][number]),
      rename: (id, title) => this.#library.rename(id, title),
      settle: () => void (this.#answered = this.#library.states.length - 1),
      foreign: (answer, user) => foreignMarks(answer, user, this.#drawn),
      keep: (name, value) => void this.kept.set(name, value),
      countSent: () => this.sent.length,
      violate: (what) => void this.said.push({ feature, what }),
    }
  }

  /** The way that operations take which must be sent by one. */
  plainWay(): Way {
    return this.#ways.includes('post') ? 'post' : 'id'
  }

  /** Mutations one after the other, and many reads at once: behind them, and beside them. */
  async rounds(): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      const isBeside = this.#random.chance(0.4)
      const mutation = this.#mutate(round)
      if (!isBeside) await mutation
      if (!isBeside) await Promise.all([this.#readElsewhere(), this.#readElsewhere()])
      await Promise.all([mutation, ...Array.from({ length: READS }, () => this.#read())])
      // What was kept of the same question is given once more.
      await this.#read()
    }
  }

  /** The first gateway alone loses what carries changes; the second one still serves nothing older than the bound. */
  async parted(networks: readonly Network[]): Promise<void> {
    for (let read = 0; read < READS; read++) await this.#readElsewhere()
    for (const network of networks) network.cut()
    await this.#mutate(0)
    await sleep(BOUND_MS)
    for (let read = 0; read < READS; read++) await this.#readElsewhere()
    for (const network of networks) network.heal()
    await sleep(BACK_MS)
  }

  async #readElsewhere(): Promise<void> {
    if (this.#secondPort === undefined) return
    const way = this.plainWay()
    const operation = drawQuery(this.#random, this.#kinds, way === 'id')
    const endpoint = `http://127.0.0.1:${this.#secondPort}/graphql`
    const user = this.#random.pick(USERS)
    this.sentElsewhere.push(await this.#request(user, [operation], way, {}, false, endpoint))
  }

  #mutate(round: number): Promise<unknown> {
    if (round % 3 === 2) return this.#read()
    const operation = drawMutation(this.#random, `changed ${round}`)
    return this.send(this.#random.pick(USERS), [operation], this.plainWay())
  }

  async #read(): Promise<unknown> {
    const way = this.#random.pick(this.#ways)
    const kinds = way === 'multipart' ? new Set(['defer']) : this.#kinds
    const known = way === 'id' || way === 'id by get'
    const count = way === 'batch' ? 1 + this.#random.below(3) : 1
    const operations = Array.from({ length: count }, () => drawQuery(this.#random, kinds, known))
    return this.send(this.#random.pick(USERS), operations, way)
  }

  async send(
    user: User,
    operations: readonly Operation[],
    way: Way,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Sent> {
    if (way === 'apq') {
      const probe = await this.#request(user, operations, way, more, true)
      const code = probe.operations[0]?.answer.errors?.[0]?.extensions?.['code']
      if (code !== 'PERSISTED_QUERY_NOT_FOUND') return this.#keep({ ...probe, isProbe: false })
      this.#keep(probe)
    }
    return this.#keep(await this.#request(user, operations, way, more, false))
  }

  async #request(
    user: User,
    operations: readonly Operation[],
    way: Way,
    more: Readonly<Record<string, string>>,
    isProbe: boolean,
    endpoint = this.endpoint,
  ): Promise<Sent> {
    const id = `pairs-${++this.#made}`
    const headers = { [CLIENT_HEADER]: id, ...user.headers, ...this.#headers, ...more, 'x-request-id': id }
    const from = this.#answered
    const posted = await post(endpoint, operations, way, headers, isProbe).catch((error: unknown) => ({
      status: 0,
      headers: new Headers(),
      target: undefined,
      isRefusedWhole: false,
      answers: operations.map(() => ({ errors: [{ message: String((error as Error).cause ?? error) }] })),
    }))
    const to = this.#library.states.length - 1
    // Mutations follow each other, so that the newest state is the one that this one left.
    if (operations[0]?.type === 'mutation') this.#answered = to
    const asked = operations.map((operation, index) => ({
      operation,
      from: operation.type === 'mutation' ? to : from,
      to,
      answer: (posted.answers[index] ?? {}) as Answer,
    }))
    const { status, target, isRefusedWhole } = posted
    return {
      id,
      user,
      way,
      target,
      isRefusedWhole,
      headers,
      operations: asked,
      status,
      answerHeaders: posted.headers,
      isProbe,
    }
  }

  #keep(sent: Sent): Sent {
    this.sent.push(sent)
    return sent
  }
}

/** SIGTERM, when what is under way has reached the backend. */
async function endProcess(
  talk: Talk,
  library: Library,
  { process: gateway, port }: Started,
): Promise<Ending> {
  const asker = USERS[0] as User
  const slow = talk.send(asker, [SLOW], talk.plainWay())
  await Promise.race([slow, waitUntil(() => library.rest.requests.some(({ rawUrl }) => rawUrl === '/slow'))])
  const began = performance.now()
  const { code, signal } = await gateway.kill('SIGTERM', 40_000)
  const ms = Math.round(performance.now() - began)
  const underWay = (await slow).operations[0]?.answer
  return { code, signal, ms, isListening: await isListening(port), underWay }
}
