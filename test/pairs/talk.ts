import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, type Network, type Random } from '@vinyasa/test-kit'
import { post } from './ask.ts'
import { CLIENT_HEADER } from './client-header.ts'
import { kindsOf } from './draw-row.ts'
import type { Drawn, Session } from './feature.ts'
import { foreignMarks } from './judge.ts'
import { askKnown, type KnownAsked } from './known.ts'
import type { Library } from './library.ts'
import { drawEach, drawMutation, drawQuery, type Operation, RENAME_WATCHED, WATCHED } from './operations.ts'
import { createReference, type Reference } from './reference.ts'
import type { Answer, Beside, Run, Sent, Way } from './run.ts'
import { parentOf, traceOf } from './trace-of.ts'
import { USERS, type User } from './users.ts'

/** What may be served at most that is older than an answered mutation, where gateways are parted. */
const BOUND_MS = 3_500
/** How long a gateway tries to connect again, with what that takes. */
const BACK_MS = 2_000
/** How far the bus is from one of two gateways for a while: longer than a read of the other one takes. */
const FAR_MS = 60

const ROUNDS = 12
const READS = 5

export interface TalkOptions {
  readonly drawn: readonly Drawn[]
  readonly library: Library
  readonly seed: number
  /** `http://host:port` of the gateway, or of what stands in front of it. */
  readonly url: string
  readonly secondUrl: string | undefined
  /** Of the GraphQL endpoint. */
  readonly path: string
  /** Where the gateway's instruments write. */
  readonly folder: string
  readonly signal: (name: NodeJS.Signals) => void
}

/** What clients say to a gateway, and what they hear. */
export class Talk {
  readonly sent: Sent[] = []
  /** Through the second gateway. */
  readonly sentElsewhere: Sent[] = []
  readonly kept: Map<string, unknown> = new Map<string, unknown>()
  readonly beside: Beside = {
    requests: 0,
    queries: 0,
    mutations: 0,
    unheard: 0,
    endedLive: 0,
    bypassed: 0,
    statuses: [],
    codes: [],
  }
  readonly said: { feature: string; what: string }[] = []
  readonly reference: Reference
  readonly #drawn: readonly Drawn[]
  readonly #library: Library
  readonly #random: Random
  readonly #ways: readonly Way[]
  readonly #kinds: ReadonlySet<string>
  readonly #headers: Readonly<Record<string, string>>
  readonly #options: TalkOptions
  /** The state that the last answered mutation left. */
  #answered = 0
  #made = 0

  constructor(options: TalkOptions) {
    const { drawn, library, seed } = options
    this.#options = options
    this.#drawn = drawn
    this.#library = library
    this.#random = createRandom(seed, 'talk')
    this.reference = createReference(drawn)
    const values = drawn.map(({ value }) => value)
    const only = values.find(({ onlyWays }) => onlyWays)?.onlyWays
    this.#ways = only ?? ['post', 'get', ...values.flatMap(({ ways = [] }) => ways)]
    this.#kinds = kindsOf(values)
    this.#headers = Object.assign({}, ...values.map(({ headers }) => headers))
  }

  session(feature: string): Session {
    const { url, path, signal } = this.#options
    const endpoint = `${url}${path}`
    return {
      url,
      endpoint,
      random: createRandom(this.#random.below(1e9), feature),
      headers: this.#headers,
      states: this.#library.states,
      plainWay: this.plainWay(),
      signal,
      ask: (user, operation, way = this.plainWay(), headers = {}) =>
        this.send(user, [operation], way, headers),
      beside: (what, times) => void (this.beside[what] += times),
      fetch: (init) => this.#fetchBeside(endpoint, init),
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

  async #fetchBeside(endpoint: string, init: RequestInit): ReturnType<Session['fetch']> {
    const response = await fetch(endpoint, init)
    const { status, headers } = response
    const text = await response.text()
    this.beside.statuses.push(String(status))
    if (headers.get('x-cache') === 'BYPASS') this.beside.bypassed++
    this.beside.codes.push(...[...text.matchAll(/"code":"(\w+)"/g)].map(([, code = '']) => code))
    return { status, headers, text }
  }

  /** The way that operations take which must be sent by one. */
  plainWay(): Way {
    return this.#ways.includes('post') ? 'post' : 'id'
  }

  /** Mutations one after the other, and many reads at once: behind them, and beside them. */
  async rounds(): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      const isBeside = this.#random.chance(0.4)
      if (round === ROUNDS / 2)
        for (const { value, feature } of this.#drawn) await value.between?.(this.session(feature.name))
      const mutation = this.#mutate(round)
      if (!isBeside) await mutation
      if (!isBeside) await Promise.all([this.#readElsewhere(), this.#readElsewhere()])
      await Promise.all([mutation, ...Array.from({ length: READS }, () => this.#read())])
      // What was kept of the same question is given once more.
      await this.#read()
    }
  }

  /** All users ask each question, one right after the other, so that what was kept for one would be given to the next. */
  async callers(): Promise<void> {
    const ways = [this.plainWay(), ...this.#ways.filter((way) => way === 'get')]
    for (const operation of drawEach(this.#random, this.#kinds))
      for (const way of ways) for (const user of USERS) await this.send(user, [operation], way)
  }

  /** The first gateway is far from what carries changes: its mutations still show at the second one when they are answered. */
  async far(networks: readonly Network[]): Promise<void> {
    for (const network of networks) network.delay(FAR_MS)
    for (let round = 0; round < 3; round++) {
      await this.#watchElsewhere()
      await this.#watchElsewhere()
      await this.send(USERS[0] as User, [RENAME_WATCHED(`far ${round}`)], this.plainWay())
      await this.#watchElsewhere()
    }
    for (const network of networks) network.delay(0)
  }

  /** The first gateway alone loses what carries changes; the second one still serves nothing older than the bound. */
  async parted(networks: readonly Network[]): Promise<void> {
    // What the second one keeps, it may not give out once it is old enough to have changed.
    await this.#watchElsewhere()
    await this.#watchElsewhere()
    for (const network of networks) network.cut()
    await this.send(USERS[0] as User, [RENAME_WATCHED('parted')], this.plainWay())
    await sleep(BOUND_MS)
    await this.#watchElsewhere()
    for (let read = 0; read < READS; read++) await this.#readElsewhere()
    for (const network of networks) network.heal()
    await sleep(BACK_MS)
    await this.#watchElsewhere()
  }

  /** What was asked often is asked once more by every way in that takes one operation. */
  known(): Promise<readonly KnownAsked[]> {
    const ways = this.#ways.filter((way) => way !== 'batch')
    return askKnown(ways, this.#options.folder, (operation, way) =>
      this.send(USERS[0] as User, [operation], way),
    )
  }

  /** All users ask what mutations of `far` and `parted` change. */
  async #watchElsewhere(): Promise<void> {
    if (this.#options.secondUrl === undefined) return
    await Promise.all(USERS.map((user) => this.send(user, [WATCHED], this.plainWay(), {}, 'second')))
  }

  #readElsewhere(): Promise<unknown> {
    return this.#options.secondUrl === undefined ? Promise.resolve() : this.#read('second')
  }

  #mutate(round: number): Promise<unknown> {
    if (round % 3 === 2) return this.#read()
    const operation = drawMutation(this.#random, `changed ${round}`)
    return this.send(this.#random.pick(USERS), [operation], this.plainWay())
  }

  async #read(place: Place = 'first'): Promise<unknown> {
    const way = this.#random.pick(this.#ways)
    const kinds = way === 'multipart' ? new Set(['defer']) : this.#kinds
    const known = way === 'id' || way === 'id by get' || way === 'hash'
    const count = way === 'batch' ? 1 + this.#random.below(3) : 1
    const operations = Array.from({ length: count }, () => drawQuery(this.#random, kinds, known))
    return this.send(this.#random.pick(USERS), operations, way, {}, place)
  }

  async send(
    user: User,
    operations: readonly Operation[],
    way: Way,
    more: Readonly<Record<string, string>> = {},
    place: Place = 'first',
  ): Promise<Sent> {
    const ask = (isProbe: boolean): Promise<Sent> =>
      this.#request({ user, operations, way, more, place, isProbe })
    const kept = place === 'first' ? this.sent : this.sentElsewhere
    const keep = (sent: Sent): Sent => {
      kept.push(sent)
      return sent
    }
    if (way === 'apq') {
      const probe = await ask(true)
      const code = probe.operations[0]?.answer.errors?.[0]?.extensions?.['code']
      if (code !== 'PERSISTED_QUERY_NOT_FOUND') return keep({ ...probe, isProbe: false })
      keep(probe)
    }
    return keep(await ask(false))
  }

  async #request({ user, operations, way, more, place, isProbe }: Request): Promise<Sent> {
    const id = `pairs-${++this.#made}`
    const traceparent = `00-${traceOf(id)}-${parentOf(id)}-01`
    const headers = {
      [CLIENT_HEADER]: id,
      traceparent,
      ...user.headers,
      ...this.#headers,
      ...more,
      'x-request-id': id,
    }
    const from = this.#answered
    const { url, secondUrl, path } = this.#options
    const endpoint = `${place === 'first' ? url : secondUrl}${path}`
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
}

/** Which of two gateways is asked. */
type Place = 'first' | 'second'

interface Request {
  readonly user: User
  readonly operations: readonly Operation[]
  readonly way: Way
  /** Further headers. */
  readonly more: Readonly<Record<string, string>>
  readonly place: Place
  /** Asks by the hash alone. */
  readonly isProbe: boolean
}
