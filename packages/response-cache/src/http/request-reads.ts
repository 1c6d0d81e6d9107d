import { IncomingMessage } from 'node:http'
import { createAttachment, keyed } from '@vinyasa/core'
import { isTracingHeader } from '@vinyasa/invalidation'
import type { Plugin } from 'graphql-yoga'

/** Request headers that describe the transport, the client's software or a precondition. The README lists them. */
const TRANSPORT =
  /^(accept|accept-(encoding|charset)|content-.+|transfer-encoding|connection|keep-alive|te|upgrade|expect|date|origin|referer|user-agent|access-control-request-.+|sec-fetch-.+|if-.+|cache-control|pragma|priority|dnt|x-graphql-yoga-csrf|(x-)?apollo(graphql)?-.+|graphql-.+|(x-)?b3(-.+)?)$/

/** The headers of this kind that Yoga reads for every request. */
const ASKED_BY_YOGA: ReadonlySet<string> = new Set(['accept', 'content-type', 'content-length', 'origin'])

/** Properties that Node and frameworks add to a request, except those that identify the sender. */
const NEUTRAL: ReadonlySet<string> = new Set(
  'socket client httpVersionMajor httpVersionMinor httpVersion complete rawHeaders rawTrailers joinDuplicateHeaders aborted upgrade url method statusCode statusMessage headers res next route params query body rawBody baseUrl originalUrl raw req request response server app log id cookies signedCookies push'.split(
    ' ',
  ),
)

const OF_SOCKET = [
  'remoteAddress',
  'remotePort',
  'authorized',
  'getPeerCertificate',
  'getPeerX509Certificate',
]

export const OTHER_REQUEST = 'a request object that a plugin created'
const ADDRESS = 'req.socket.remoteAddress'
const ALL_HEADERS = 'all request headers'

/** Counts the reads of a connection that several requests use. */
interface Connection {
  reads: number
}

/** Records which parts of one request code reads. */
export class RequestReads {
  readonly #names = new Set<string>()
  #connection: Connection | undefined
  #readsBefore = 0
  /** The headers of Node's request, and the recording view of them. */
  headers: object | undefined
  view: object | undefined
  isSilent = false

  note(name: string): void {
    if (this.isSilent || ASKED_BY_YOGA.has(name) || TRANSPORT.test(name) || isTracingHeader(name)) return
    this.#names.add(name)
  }

  follow(connection: Connection): void {
    this.#connection = connection
    this.#readsBefore = connection.reads
  }

  /** Lower-case names of headers, and paths such as `req.user` for other properties. */
  get names(): ReadonlySet<string> {
    // A client can pipeline requests, so a read of the connection counts for every running request.
    if (this.#connection && this.#connection.reads > this.#readsBefore) this.#names.add(ADDRESS)
    return this.#names
  }
}

/** The recorded requests. An entry lives as long as the request. */
const recorded = createAttachment<RequestReads>()
const connections = createAttachment<Connection>()

/** Returns the reads of a request since recording began. */
export function readsOf(request: Request): RequestReads | undefined {
  return recorded.get(request.headers)
}

/**
 * Calls a function whose reads of the request are not recorded. With `isSilent` false, reads are recorded again within
 * such a function.
 */
export function silently<T>(request: Request, read: () => T, isSilent = true): T {
  const reads = readsOf(request)
  if (!reads || reads.isSilent === isSilent) return read()
  reads.isSilent = isSilent
  try {
    return read()
  } finally {
    reads.isSilent = !isSilent
  }
}

type ParseHook = NonNullable<Plugin['onRequestParse']>

/**
 * Returns Yoga's hook for the body limit with copies that are not recorded as reads. Yoga copies each request with a
 * body, and Hono's server creates the complete request when the body is first read. Reads of parsers from the copy are
 * recorded.
 */
export function withoutCopies(limit: ParseHook): ParseHook {
  return (payload) => {
    const { request, requestParser: parse, setRequestParser } = payload
    // The request is not copied if there is no parser. node-handler calls the hook only to check the size.
    if (!parse) return limit(payload)
    return silently(request, () =>
      limit({
        ...payload,
        requestParser(copy) {
          const reads = readsOf(request)
          if (reads) recordReads(copy, {}, reads)
          return silently(request, () => parse(copy), false)
        },
        setRequestParser: (limited) =>
          setRequestParser(limited && ((given) => silently(given, () => limited(given)))),
      }),
    )
  }
}

/** Records reads of a request from now on. `context` is the server context with the request of Node or a framework. */
export function recordReads(
  request: Request,
  context: object,
  reads: RequestReads = new RequestReads(),
): RequestReads {
  const { headers } = request
  const known = recorded.get(headers)
  if (known) return known
  recorded.set(headers, reads)
  Object.setPrototypeOf(headers, recordingClass(Object.getPrototypeOf(headers) as object))
  const { req } = context as { readonly req?: unknown }
  if (isObject(req)) {
    recordNode(req, reads)
    const { raw } = req as { readonly raw?: unknown }
    if (isObject(raw)) recordNode(raw, reads)
  }
  return reads
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Returns the recording prototype of a class of headers. */
const recordingClass = keyed((base: object): object => {
  const recording = Object.create(base) as object
  const override = (name: string | symbol, noteOf: (given: unknown) => string): void =>
    void Object.defineProperty(recording, name, {
      configurable: true,
      value(this: object, ...given: unknown[]): unknown {
        recorded.get(this)?.note(noteOf(given[0]))
        return (Reflect.get(base, name) as (...given: unknown[]) => unknown).apply(this, given)
      },
    })
  for (const name of ['get', 'has']) override(name, (header) => String(header).toLowerCase())
  for (const name of ['entries', 'keys', 'values', 'forEach', Symbol.iterator])
    override(name, () => ALL_HEADERS)
  return recording
}, new WeakMap<object, object>())

function recordNode(req: object, reads: RequestReads): void {
  const { headers, socket } = req as Readonly<Record<string, unknown>>
  if (!isObject(headers)) return
  reads.headers = headers
  recorded.set(req, reads)
  Object.defineProperty(req, 'headers', NODE_HEADERS)
  // A redefined property would turn the request into a dictionary, which is slow. Bun has an accessor.
  const list = req as { rawHeaders?: unknown }
  if (req instanceof IncomingMessage && Object.hasOwn(req, 'rawHeaders'))
    req.rawHeaders = new Proxy(req.rawHeaders, new NotingList(reads))
  else if (isObject(list.rawHeaders)) watch(req, 'rawHeaders', () => reads.note(ALL_HEADERS))
  for (const name of Object.keys(req))
    if (name[0] !== '_' && !NEUTRAL.has(name)) watch(req, name, () => reads.note(`req.${name}`))
  if (isObject(socket)) recordSocket(socket, reads)
}

/** All requests share one descriptor, because separate accessors would create a hidden class per request. */
const NODE_HEADERS: PropertyDescriptor & ThisType<object> = {
  configurable: true,
  enumerable: true,
  get() {
    const reads = recorded.get(this)
    if (!reads || reads.isSilent) return reads?.headers
    return (reads.view ??= viewOf(reads.headers as object, reads))
  },
  set(headers: object) {
    Object.assign(recorded.get(this) ?? {}, { headers, view: undefined })
  },
}

class NotingList implements ProxyHandler<string[]> {
  readonly #reads: RequestReads

  constructor(reads: RequestReads) {
    this.#reads = reads
  }

  get(target: string[], name: string | symbol): unknown {
    this.#reads.note(ALL_HEADERS)
    return Reflect.get(target, name) as unknown
  }
}

function viewOf(headers: object, reads: RequestReads): object {
  const noteName = (name: string | symbol): void => {
    if (typeof name === 'string') reads.note(name)
  }
  return new Proxy(headers, {
    get: (target, name) => (noteName(name), Reflect.get(target, name)),
    has: (target, name) => (noteName(name), Reflect.has(target, name)),
    ownKeys: (target) => (reads.note(ALL_HEADERS), Reflect.ownKeys(target)),
  })
}

function recordSocket(socket: object, reads: RequestReads): void {
  let connection = connections.get(socket)
  if (!connection) {
    const counted: Connection = { reads: 0 }
    connections.set(socket, (connection = counted))
    for (const name of OF_SOCKET)
      if (Object.hasOwn(socket, name)) watch(socket, name, () => void counted.reads++)
      else if (name in socket) Object.defineProperty(socket, name, socketMember(name))
  }
  reads.follow(connection)
}

/** Records reads of a property of a socket. All sockets share one descriptor, as for NODE_HEADERS. */
const socketMember = keyed((name: string): PropertyDescriptor & ThisType<object> => ({
  configurable: true,
  get() {
    const connection = connections.get(this)
    if (connection) connection.reads++
    return Reflect.get(Object.getPrototypeOf(this) as object, name, this) as unknown
  },
  set(value: unknown) {
    Object.defineProperty(this, name, { configurable: true, enumerable: true, writable: true, value })
  },
}))

/** Calls `onRead` before a property is read. */
function watch(target: object, name: string, onRead: () => void): void {
  const own = Object.getOwnPropertyDescriptor(target, name)
  Object.defineProperty(target, name, {
    configurable: true,
    enumerable: own?.enumerable ?? false,
    get() {
      onRead()
      if (own) return (own.get ? own.get.call(target) : own.value) as unknown
      return Reflect.get(Object.getPrototypeOf(target) as object, name, target) as unknown
    },
    set(value: unknown) {
      Object.defineProperty(target, name, { configurable: true, enumerable: true, writable: true, value })
    },
  })
}
