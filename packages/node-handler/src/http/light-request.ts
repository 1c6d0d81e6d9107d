import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Ending, ENDING } from '@vinyasa/core'
import type { BufferedRequest } from '@vinyasa/core/pipeline'
import type { FetchAPI } from 'graphql-yoga'
import { type CheckSize, countedBody, readBody } from './body.ts'
import { standInFor } from './stand-in.ts'
import { setMaxListeners } from 'node:events'
import { urlOf } from './request-target.ts'

/** The state of a light request. Each value is created once, when it is first read. */
class LightState {
  readonly incoming: IncomingMessage
  parsedUrl: URL | undefined
  /** The full request. It is created when a rarely used property is read. */
  request: Request | undefined
  readonly #outgoing: ServerResponse
  /** The host is read once, because a plugin can record later reads of the message. */
  readonly #host: string | undefined
  #check: CheckSize | undefined
  #url: string | undefined
  #target: string | undefined
  #ending: Ending | undefined
  #signal: AbortSignal | undefined
  #bytes: Promise<Buffer> | undefined
  received: Buffer | undefined

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    this.incoming = incoming
    this.#host = incoming.headers.host
    this.#outgoing = outgoing
  }

  get url(): string {
    return (this.#url ??= urlOf(this.incoming, this.#host, this.#target))
  }

  /** Changes the path of `url`. */
  moveTo(path: string): void {
    const { url = '' } = this.incoming
    const at = url.indexOf('?')
    this.#target = at < 0 ? path : `${path}${url.slice(at)}`
    this.#url = this.parsedUrl = undefined
  }

  /** Aborts if the connection ends before the response does. */
  get ending(): Ending {
    return (this.#ending ??= endingOf(this.incoming, this.#outgoing))
  }

  /** Returns the same signal as an `AbortSignal`. Any number of backend calls can listen to it. */
  get signal(): AbortSignal {
    if (!this.#signal) {
      this.#signal = this.ending.signal
      setMaxListeners(0, this.#signal)
    }
    return this.#signal
  }

  /** Adds a size check. All checks run for each chunk of the body, with the number of bytes received so far. */
  addSizeCheck(added: CheckSize): void {
    const check = this.#check
    this.#check = check
      ? (bytes) => {
          check(bytes)
          added(bytes)
        }
      : added
  }

  /** Returns the complete body. */
  read(): Promise<Buffer> {
    return (this.#bytes ??= readBody(this.incoming, this.#check))
  }

  /** Returns the body as a stream. */
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
  // If the body was dropped, the response was sent elsewhere.
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

/** A request that is read without streams. It creates a full `Request` when a rarely used property is read. */
export interface LightRequest extends BufferedRequest {
  // One property holds the state, so that our names cannot hide properties of a full request.
  readonly lightState: LightState
}

export function lightOf(request: Request): LightRequest | undefined {
  return 'lightState' in request ? (request as LightRequest) : undefined
}

export type CreateLightRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => LightRequest

/** Returns a function that creates light requests. They pass `instanceof fetchAPI.Request`. */
export function createLightRequests(fetchAPI: FetchAPI): CreateLightRequest {
  const IncomingHeaders = incomingHeaders(fetchAPI)

  class Light {
    readonly method: string
    readonly headers: Headers
    readonly lightState: LightState

    constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
      this.lightState = new LightState(incoming, outgoing)
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

    text(): Promise<string> {
      const request = trueBody(this)
      if (request) return request.text()
      return this.lightState.read().then((bytes) => bytes.toString('utf8'))
    }

    async arrayBuffer(): Promise<ArrayBuffer> {
      const request = trueBody(this)
      if (request) return request.arrayBuffer()
      const { buffer, byteOffset, byteLength } = await this.lightState.read()
      // The bytes are copied because a chunk of node:http is a part of a larger buffer.
      return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
    }

    async json(): Promise<unknown> {
      const request = trueBody(this)
      if (request) return request.json()
      const bytes = await this.lightState.read()
      try {
        return JSON.parse(bytes.toString('utf8'))
      } catch {
        // Yoga's class creates the error, because its message is part of the response.
        return new fetchAPI.Request(this.url, { method: this.method, body: new Uint8Array(bytes) }).json()
      }
    }

    /** A property of Yoga's class that is not in the standard: the source of the body. */
    get bodyInit(): unknown {
      const request = trueBody(this)
      return request ? Reflect.get(request, 'bodyInit') : this.lightState.incoming
    }

    // Yoga's class also returns the same request.
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
  return (incoming, outgoing) => new Light(incoming, outgoing) as unknown as LightRequest
}

/** Returns the full request if the body is already read from it, or if the request is a `GET` and has no body. */
function trueBody(
  light: Pick<LightRequest, 'lightState' | 'method'> & { readonly materialised: Request },
): Request | undefined {
  return light.lightState.request || light.method === 'GET' ? light.materialised : undefined
}

/** Properties of Yoga's class: the initial headers, and a separate map after the first change. */
interface PonyfillHeaders extends Headers {
  readonly _map?: unknown
  readonly headersInit: IncomingHttpHeaders
  _get(name: string): string | null
}

/** Yoga's class of headers with a faster lookup of missing headers. Header names of node:http are in lower case. */
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
