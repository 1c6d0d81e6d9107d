import { type Ending, keyed, processLedger, type ReplyFlow, ReplyMemory, FairQueue } from '@vinyasa/core'
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { HTTPParserError } from 'undici/lib/core/errors.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import { BadResponse, NoPlace, ResponseTooLarge } from '../failures.ts'
import type { Transport, TransportOptions, WireRequest, WireResponse } from '../transport.ts'
import { bytesOf, isStreamed, type WireBody } from '../../bodies/wire-body.ts'
import { PatientClient, type PatientClientOptions } from './patient-client.ts'
import { ReceivedBody } from './received-body.ts'
import { lookup as lookUp, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'

interface Begins {
  begin(): void
}

/** The exchanges with one origin: as many at a time as there may be connections. Others wait, by turns of those who ask. */
class Exchanges {
  readonly #most: number
  readonly #onIdle: () => void
  readonly #waiting = new FairQueue<Begins>()
  #active = 0
  #isServing = false

  constructor(most: number, onIdle: () => void = () => {}) {
    this.#most = most
    this.#onIdle = onIdle
  }

  /** Begins one, now or in its turn; its end is to be told. False: it finds no place among those that wait. */
  run(exchange: Begins, caller: unknown): boolean {
    if (this.#active >= this.#most) return this.#waiting.add(exchange, caller)
    this.#active++
    exchange.begin()
    return true
  }

  /** It waits no longer; does nothing for one that has begun. */
  leave(exchange: Begins): void {
    this.#waiting.delete(exchange)
  }

  /** One is over. */
  end(): void {
    this.#active--
    // One may be over as soon as it begins, as all are once the transport is closed.
    if (this.#isServing) return
    this.#isServing = true
    while (this.#active < this.#most && this.#waiting.size > 0) {
      this.#active++
      this.#waiting.next()?.begin()
    }
    this.#isServing = false
    if (this.#active === 0) this.#onIdle()
  }
}

/**
 * Looks names up for new connections, which go to all addresses of a name in turn. The family that the system prefers stays in
 * front: the other may be unreachable.
 */
function spreadLookup(lookup: LookupFunction = lookUp as LookupFunction): LookupFunction {
  let turn = 0
  return (host, options, done) =>
    lookup(host, { ...options, all: true }, (error, found) => {
      const addresses = Array.isArray(found) ? inTurn(found, turn++) : []
      const [first] = addresses
      if (error || !first || options.all) done(error, addresses)
      else done(null, first.address, first.family)
    })
}

function inTurn(found: readonly LookupAddress[], turn: number): LookupAddress[] {
  const preferred = found.filter(({ family }) => family === found[0]?.family)
  const others = found.filter((one) => !preferred.includes(one))
  const at = preferred.length === 0 ? 0 : turn % preferred.length
  return [...preferred.slice(at), ...preferred.slice(0, at), ...others]
}

/** Bytes of a connector's long responses above which all of them but the oldest wait. */
const PACED_BYTES = 32 * 1024 * 1024

/**
 * One undici pool for the connector's origin, where the import condition `node` holds; `fetch-client.ts` is for elsewhere.
 *
 * The pool alone: undici's index also brings fetch, WebSocket, caches and mocks, a hundred modules that nothing here
 * uses, and replaces the dispatcher of the global fetch. It is loaded where the pool is not enough.
 */
export function createTransport(options: TransportOptions): Transport {
  const { origin, maxResponseBytes, maxConnections, maxConnectionAgeMs, clock, env } = options
  const memory = new ReplyMemory(processLedger(), PACED_BYTES)
  // Deadlines are the connector's business: one ending stops an attempt, whatever it waits for.
  const settings = { headersTimeout: 0, bodyTimeout: 0, connectTimeout: 10_000, connections: maxConnections }
  const proxy = createProxy(env, settings)
  const connect = { lookup: spreadLookup(options.lookup) }
  const factory = (of: URL, given: object): Dispatcher =>
    new PatientClient(of, { ...(given as PatientClientOptions), maxConnectionAgeMs, clock })
  const poolOf = (of: string | URL): Pool => new Pool(of, { ...settings, connect, factory })
  const pool = proxy ? undefined : poolOf(origin)
  let others: Promise<Dispatcher> | undefined = proxy
  const own = new Exchanges(maxConnections)
  const ofOthers = new Map<string, Exchanges>()

  const exchangesWith = keyed(
    (other: string) => new Exchanges(maxConnections, () => ofOthers.delete(other)),
    ofOthers,
  )

  async function openOthers(): Promise<Dispatcher> {
    const { Agent } = await import('undici')
    return new Agent({ factory: poolOf })
  }

  return {
    send(request, ending, caller) {
      const { origin: to = origin } = request
      const exchange = {
        ending,
        maxResponseBytes,
        memory,
        to,
        exchanges: to === origin ? own : exchangesWith(to),
      }
      if (pool && to === origin) return sendOn(pool, request, exchange, caller)
      others ??= openOthers()
      return others.then((dispatcher) => sendOn(dispatcher, request, exchange, caller))
    },
    async close() {
      await Promise.all([pool?.destroy(), others?.then((dispatcher) => dispatcher.destroy())])
    },
  }
}

function createProxy(
  env: TransportOptions['env'],
  settings: { readonly headersTimeout: number; readonly bodyTimeout: number },
): Promise<Dispatcher> | undefined {
  const httpProxy = env['http_proxy'] ?? env['HTTP_PROXY']
  const httpsProxy = env['https_proxy'] ?? env['HTTPS_PROXY']
  if (!httpProxy && !httpsProxy) return undefined
  const noProxy = env['no_proxy'] ?? env['NO_PROXY'] ?? ''
  return import('undici').then(
    ({ EnvHttpProxyAgent }) =>
      new EnvHttpProxyAgent({
        ...settings,
        noProxy,
        ...(httpProxy && { httpProxy }),
        ...(httpsProxy && { httpsProxy }),
      }),
  )
}

interface Exchange {
  readonly ending: Ending
  /** The origin that it is with. */
  readonly to: string
  readonly exchanges: Exchanges
  readonly maxResponseBytes: number
  readonly memory: ReplyMemory
}

/**
 * One request on its way, and its answer as it comes. It keeps nothing of who asks: one that grows old while it is under way
 * would keep their request alive, and by its connection all that come there after it, until the next large collection.
 */
class Sending implements Dispatcher.DispatchHandler, ReplyFlow {
  readonly #dispatcher: Dispatcher
  readonly #request: WireRequest
  readonly #exchange: Exchange
  readonly #received: ReceivedBody
  readonly #letGo: () => void
  readonly #resolve: (answer: WireResponse) => void
  readonly #reject: (error: unknown) => void
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #headers: WireResponse['headers'] = {}

  constructor(
    dispatcher: Dispatcher,
    request: WireRequest,
    exchange: Exchange,
    resolve: (answer: WireResponse) => void,
    reject: (error: unknown) => void,
  ) {
    const { ending, maxResponseBytes, memory } = exchange
    this.#dispatcher = dispatcher
    this.#request = request
    this.#exchange = exchange
    this.#resolve = resolve
    this.#reject = reject
    this.#received = new ReceivedBody(maxResponseBytes, memory)
    this.#letGo = ending.onAbort(() => this.#leave(ending.reason as Error))
  }

  /** Begins it now or in its turn. */
  start(caller: unknown): void {
    if (this.#exchange.exchanges.run(this, caller)) return
    this.#letGo()
    this.#reject(new NoPlace())
  }

  begin(): void {
    const { method, path, headers, body } = this.#request
    const options = {
      origin: this.#exchange.to,
      method: method as Dispatcher.HttpMethod,
      path,
      headers: headersOf(headers, body),
      body: isStreamed(body) ? Readable.from(bytesOf(body), { objectMode: false }) : (body ?? null),
    }
    this.#dispatcher.dispatch(options, this)
  }

  onRequestStart(started: Dispatcher.DispatchController): void {
    const { ending } = this.#exchange
    this.#controller = started
    if (ending.aborted) started.abort(ending.reason as Error)
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: WireResponse['headers'],
  ): void {
    if (status < 200) return
    this.#status = status
    this.#headers = headers
  }

  onResponseData(running: Dispatcher.DispatchController, chunk: Buffer): void {
    const received = this.#received
    if (!received.add(chunk, this.#headers['content-length'], this))
      running.abort(new ResponseTooLarge(this.#exchange.maxResponseBytes))
    else if (received.isShredded)
      running.abort(
        new BadResponse('the body arrives in more than 4,000 chunks of less than 16 bytes on average'),
      )
  }

  onResponseEnd(): void {
    const received = this.#received
    const whole = { status: this.#status, headers: this.#headers, body: received.whole() }
    this.#resolve(received.isLong ? { ...whole, release: () => received.release() } : whole)
    this.#end()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#received.release()
    if (isBodilessAnswer(this.#status, error))
      this.#resolve({ status: this.#status, headers: this.#headers, body: Buffer.alloc(0) })
    // The upstream was reached: it speaks something else, or frames its body in a way that nobody can read.
    else if (error instanceof HTTPParserError)
      this.#reject(new BadResponse('the response is not HTTP/1.1', { cause: error }))
    else this.#reject(error)
    this.#end()
  }

  pause(): void {
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  refuse(): void {
    this.#controller?.abort(new NoPlace())
  }

  #leave(reason: Error): void {
    this.#exchange.exchanges.leave(this)
    this.#controller?.abort(reason)
    this.#reject(reason)
  }

  #end(): void {
    this.#letGo()
    this.#exchange.exchanges.end()
  }
}

function sendOn(
  dispatcher: Dispatcher,
  request: WireRequest,
  exchange: Exchange,
  caller: unknown,
): Promise<WireResponse> {
  const { ending } = exchange
  if (ending.aborted) return Promise.reject(ending.reason)
  return new Promise((resolve, reject) => {
    new Sending(dispatcher, request, exchange, resolve, reject).start(caller)
  })
}

/**
 * RFC 9112, section 6.3: a 204 has no body whatever its headers say, and servers do say a length. undici takes the body
 * for lost, and a change that was made for one that failed.
 */
function isBodilessAnswer(status: number, error: Error): boolean {
  return status === 204 && (error as NodeJS.ErrnoException).code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'
}

/** How long a streamed body is must be said, where that is known. */
function headersOf(headers: WireRequest['headers'], body: WireBody | undefined): Record<string, string> {
  const given = headers as Record<string, string>
  return isStreamed(body) && body.size !== undefined
    ? { ...given, 'content-length': String(body.size) }
    : given
}
