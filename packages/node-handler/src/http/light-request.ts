import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Ending, ENDING } from '@vinyasa/core'
import type { FetchAPI } from 'graphql-yoga'
import { type CheckSize, countedBody, readBody } from './read-body.ts'
import { standInFor } from './stand-in.ts'
import { setMaxListeners } from 'node:events'
import { urlOf } from './request-url.ts'

/** What a light request is made from, and what was asked of it by now: each is made once. */
class LightState {
  readonly incoming: IncomingMessage
  parsedUrl: URL | undefined
  /** The true request, once something unusual was asked. */
  request: Request | undefined
  readonly #outgoing: ServerResponse
  /** Read once: a plugin may record what is read of the message later. */
  readonly #host: string | undefined
  #check: CheckSize | undefined
  #url: string | undefined
  #target: string | undefined
  #ending: Ending | undefined
  #signal: AbortSignal | undefined
  #bytes: Promise<Buffer> | undefined

  /** @param bytes The body, where it is being read already. */
  constructor(incoming: IncomingMessage, outgoing: ServerResponse, bytes: Promise<Buffer> | undefined) {
    this.incoming = incoming
    this.#host = incoming.headers.host
    this.#outgoing = outgoing
    this.#bytes = bytes
  }

  get url(): string {
    return (this.#url ??= urlOf(this.incoming, this.#host, this.#target))
  }

  moveTo(path: string): void {
    const { url = '' } = this.incoming
    const at = url.indexOf('?')
    this.#target = at < 0 ? path : `${path}${url.slice(at)}`
    this.#url = this.parsedUrl = undefined
  }

  /** Aborts when the connection ends before the answer does. */
  get ending(): Ending {
    return (this.#ending ??= endingOf(this.incoming, this.#outgoing))
  }

  /** The same, for whoever wants a true signal. One request may have any number of backend calls that listen. */
  get signal(): AbortSignal {
    if (!this.#signal) {
      this.#signal = this.ending.signal
      setMaxListeners(0, this.#signal)
    }
    return this.#signal
  }

  addSizeCheck(added: CheckSize): void {
    const check = this.#check
    this.#check = check
      ? (bytes) => {
          check(bytes)
          added(bytes)
        }
      : added
  }

  /** The whole body. */
  read(): Promise<Buffer> {
    return (this.#bytes ??= readBody(this.incoming, this.#check))
  }

  /** The body for whoever reads the stream. */
  remainingBody(): AsyncIterable<Buffer> {
    if (this.#bytes || this.incoming.readableEnded) return this.#bodyInOne()
    return this.#check ? countedBody(this.incoming, this.#check) : this.incoming
  }

  async *#bodyInOne(): AsyncGenerator<Buffer> {
    yield await this.read()
  }
}

function endingOf(incoming: IncomingMessage, outgoing: ServerResponse): Ending {
  const ending = new Ending()
  const leave = (): void => {
    if (ending.aborted) return
    Object.defineProperty(incoming, 'aborted', { value: true })
    ending.abort(outgoing.errored ?? undefined)
  }
  // Of a request whose body was dropped somebody else has written the response.
  if (outgoing.writableFinished && !incoming.aborted) return ending
  if (outgoing.closed || outgoing.destroyed || incoming.aborted) {
    leave()
    return ending
  }
  outgoing.on('error', leave)
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) leave()
  })
  return ending
}

/** A request that is read without streams, and becomes a true `Request` when anything unusual is asked of it. */
export interface LightRequest extends Request {
  /** Whether a true `Request` stands behind it by now. */
  readonly isMaterialised: boolean
  /** Every check added must let a size pass; they are called with the bytes so far while the body arrives. */
  addSizeCheck(check: CheckSize): void
  /** Changes the path of `url`. */
  moveTo(path: string): void
}

/** `bytes`: the body, where it is being read already. */
export type CreateLightRequest = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  bytes?: Promise<Buffer>,
) => LightRequest

/** Returns a function that creates requests; they pass `instanceof fetchAPI.Request`. */
export function createLightRequests(fetchAPI: FetchAPI): CreateLightRequest {
  const IncomingHeaders = incomingHeaders(fetchAPI)

  class Light {
    readonly method: string
    readonly headers: Headers
    // In one place, so that no name of ours hides one of a true request.
    private readonly lightState: LightState

    constructor(incoming: IncomingMessage, outgoing: ServerResponse, bytes: Promise<Buffer> | undefined) {
      this.lightState = new LightState(incoming, outgoing, bytes)
      this.method = incoming.method ?? 'GET'
      this.headers = new IncomingHeaders(incoming.headers)
    }

    get [Symbol.toStringTag](): string {
      return 'Request'
    }

    get url(): string {
      return this.lightState.url
    }

    get parsedUrl(): URL {
      return (this.lightState.parsedUrl ??= new fetchAPI.URL(this.url, 'http://localhost'))
    }

    get [ENDING](): Ending {
      return this.lightState.ending
    }

    get signal(): AbortSignal {
      return this.lightState.signal
    }

    get isMaterialised(): boolean {
      return this.lightState.request !== undefined
    }

    addSizeCheck(added: CheckSize): void {
      this.lightState.addSizeCheck(added)
    }

    moveTo(path: string): void {
      this.lightState.moveTo(path)
    }

    text(): Promise<string> {
      const request = trueBody(this)
      if (request) return request.text()
      return this.lightState.read().then((bytes) => bytes.toString('utf8'))
    }

    async arrayBuffer(): Promise<ArrayBuffer> {
      const request = trueBody(this)
      if (request) return request.arrayBuffer()
      const { buffer, byteOffset, byteLength } = await this.lightState.read()
      // A copy: a chunk of node:http is a part of a larger buffer.
      return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
    }

    async json(): Promise<unknown> {
      const request = trueBody(this)
      if (request) return request.json()
      const bytes = await this.lightState.read()
      try {
        return JSON.parse(bytes.toString('utf8'))
      } catch {
        // Yoga's own class words the error; the words are part of the answer.
        return new fetchAPI.Request(this.url, { method: this.method, body: new Uint8Array(bytes) }).json()
      }
    }

    /** A member that Yoga's own class has beside the standard's: what the body is made from. */
    get bodyInit(): unknown {
      const request = trueBody(this)
      return request ? Reflect.get(request, 'bodyInit') : this.lightState.incoming
    }

    // Yoga's own class returns the same request, too.
    clone(): this {
      return this
    }

    get materialised(): Request {
      return (this.lightState.request ??= new fetchAPI.Request(this.url, {
        method: this.method,
        headers: this.headers,
        signal: this.signal,
        ...(this.method === 'GET' ? {} : { body: this.lightState.remainingBody(), duplex: 'half' }),
      } as RequestInit))
    }
  }

  const sample = new fetchAPI.Request('http://localhost/', { method: 'POST' })
  standInFor(Light.prototype, sample, ['method', 'headers'], (light) => light.materialised)
  return (incoming, outgoing, bytes) => new Light(incoming, outgoing, bytes) as unknown as LightRequest
}

/** The true request, where the body is read from it by now, and where there is no body: a GET's. */
function trueBody(
  light: Pick<LightRequest, 'isMaterialised' | 'method'> & { readonly materialised: Request },
): Request | undefined {
  return light.isMaterialised || light.method === 'GET' ? light.materialised : undefined
}

/** Members of Yoga's own class: what it was made from, and a map of its own from the first change on. */
interface PonyfillHeaders extends Headers {
  readonly _map?: unknown
  readonly headersInit: IncomingHttpHeaders
  _get(name: string): string | null
}

/** Yoga's class of headers, quicker to say of a header that it is not there: node:http's names are in lower case. */
function incomingHeaders({ Headers }: FetchAPI): new (headers: IncomingHttpHeaders) => Headers {
  const Base = Headers as unknown as new (headers: IncomingHttpHeaders) => PonyfillHeaders
  return class IncomingHeaders extends Base {
    override _get(name: string): string | null {
      if (this._map) return super._get(name)
      const value = this.headersInit[name.toLowerCase()]
      if (value === undefined) return null
      return typeof value === 'string' ? value : super._get(name)
    }
  }
}
