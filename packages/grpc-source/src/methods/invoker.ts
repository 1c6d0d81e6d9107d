import { isTracingHeader } from '@vinyasa/invalidation'
import {
  type Abortable,
  after,
  Callers,
  type Clock,
  Ending,
  type HeldReply,
  liveMomentOf,
  OpenStreams,
  PassingMap,
  unlessAborted,
} from '@vinyasa/core'
import type { Caller } from '../runtime/call.ts'
import type { MetadataSource } from '../runtime/metadata.ts'
import { answersWithStream } from '../contract/methods.ts'
import type { Callable, CallSite } from './call-site.ts'
import type { CallWatch, WatchedCall } from './call-watch.ts'
import { endOfCall, type Operations, type Reply } from './operation.ts'
import { toRpcError, type RpcErrorOptions } from './rpc-error.ts'
import { GrpcCallError, type StatusName, type MetadataEntries } from '@vinyasa/grpc-transport'

/** Reads what a caller wants of a reply's bytes. Throws only where the bytes are no message of the declared type. */
export type ReadReply<T> = (bytes: Uint8Array) => T | Promise<T>

/** The only message of a call whose sending is not over before `release` is called. */
export interface HeldRequest extends AsyncIterable<Uint8Array> {
  release(): void
}

/**
 * For servers that take the end of the requests for the end of the client's interest: that comes when the subscription
 * ends.
 */
export function holdRequest(request: Uint8Array): HeldRequest {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  async function* requests(): AsyncIterable<Uint8Array> {
    yield request
    await released
  }
  return Object.assign(requests(), { release })
}

export interface InvokerOptions {
  readonly caller: Caller
  readonly clock: Clock
  readonly operations: Operations
  readonly metadata: MetadataSource
  readonly dedupe: 'operation' | 'inflight' | false
  /** Changes are heard of; while they are not, nobody joins a call that may be older than one. */
  readonly isInTouch: () => boolean
  readonly watch: CallWatch
}

/** Calls methods for resolvers: deadline, metadata, sharing, observation. */
export class Invoker {
  readonly #options: InvokerOptions
  readonly #inflight = new PassingMap<string, SharedCall>()

  readonly #streams = new OpenStreams()

  constructor(options: InvokerOptions) {
    this.#options = options
  }

  /** `read` runs within the call: what it throws is how the call ended. A reply that is shared is read once for each. */
  async unary<T>(method: Callable, request: Uint8Array, site: CallSite, read: ReadReply<T>): Promise<T> {
    const reply = await this.#find(method, request, site, read)
    return reply.read === read ? (reply.value as T) : read(reply.bytes)
  }

  /**
   * Sends one request or several; those that come one by one end the call's sending when they end. A request that is held
   * is let go with the last reply. Failures of replies are GraphQL errors.
   */
  async stream(
    method: Callable,
    requests: readonly Uint8Array[] | HeldRequest,
    site: CallSite,
    errors: RpcErrorOptions,
  ): Promise<AsyncIterableIterator<unknown>> {
    const entries = await this.#entriesOf(site)
    const watched = this.#options.watch(method, 'stream', site)
    const metadata = watched.withHeaders(entries)
    watched.attempt()
    const { path } = method
    const timeoutMs = method.timeoutMs > 0 ? method.timeoutMs : undefined
    // Streams of replies are read; a stream of requests that has one reply changes something.
    const isMutation = method.desc.methodKind === 'client_streaming' && !method.isRead
    const signal = site.signal ?? (isMutation ? undefined : endOfCall(site.context, site.info))
    const call = { path, metadata, timeoutMs, signal, caller: site.context, ...watched.listeners }
    try {
      const messages = watched.within(() => method.transport().stream(call, requests))
      const release = 'release' in requests ? requests.release : undefined
      const replies = repliesOf(method, messages, watched, signal, errors, release)
      return answersWithStream(method.desc) ? this.#streams.add(replies) : replies
    } catch (error) {
      watched.end(statusOf(error), signal?.aborted, error)
      throw error
    }
  }

  /** Ends the streams that are open: to their readers as if the servers had. */
  close(): void {
    this.#streams.close()
  }

  /** Nobody joins a call any more that is under way now: something has changed since it started. */
  forget(): void {
    this.#inflight.clear()
    this.#options.operations.forget()
  }

  /** A reply that another reader may have asked for. */
  #find(method: Callable, request: Uint8Array, site: CallSite, read: ReadReply<unknown>): Promise<Reply> {
    const { dedupe, operations } = this.#options
    const isShared =
      dedupe !== false &&
      method.isRead &&
      site.info?.operation.operation === 'query' &&
      site.metadata === undefined
    if (!isShared) return this.#send(method, request, site, read)
    const key = `${method.path} ${Buffer.from(request.buffer, request.byteOffset, request.byteLength).toString('latin1')}`
    const { replies } = operations.of(site.context, site.info)
    let reply = replies.get(key)
    if (!reply) {
      reply =
        dedupe === 'inflight'
          ? this.#sendShared(method, request, site, read, key)
          : this.#send(method, request, site, read)
      replies.set(key, reply)
    }
    return reply
  }

  async #send(
    method: Callable,
    request: Uint8Array,
    site: CallSite,
    read: ReadReply<unknown>,
  ): Promise<Reply> {
    const entries = await this.#entriesOf(site)
    // A client that leaves ends its reads. What it asked to be changed is changed all the same.
    const signal = site.signal ?? (method.isRead ? endOfCall(site.context, site.info) : undefined)
    return this.#transmit(method, request, site, read, entries, signal)
  }

  /** One call for all requests that ask the same with the same metadata; it ends when the last of them left. */
  async #sendShared(
    method: Callable,
    request: Uint8Array,
    site: CallSite,
    read: ReadReply<unknown>,
    key: string,
  ): Promise<Reply> {
    const inflight = this.#inflight
    const entries = await this.#entriesOf(site)
    // Runs of live queries share with those of their moment alone: others may have asked before something changed.
    const moment = liveMomentOf(site.context) ?? ''
    const sharedKey = `${moment} ${key} ${JSON.stringify(entries.filter(([name]) => !isTracingHeader(name)))}`
    let shared = this.#options.isInTouch() ? inflight.get(sharedKey) : undefined
    if (!shared) {
      const ending = new Ending()
      const callers = new Callers(site.context)
      const reply = this.#transmit(method, request, site, read, entries, ending, callers).finally(() => {
        callers.clear()
        if (inflight.get(sharedKey) === shared) inflight.delete(sharedKey)
      })
      // All callers may be gone when it fails.
      reply.catch(() => {})
      shared = { reply, ending, callers, waiting: 0 }
      inflight.set(sharedKey, shared)
    } else shared.callers.join(site.context)
    const joined = shared
    joined.waiting++
    return unlessAborted(joined.reply, site.signal ?? endOfCall(site.context, site.info), () => {
      joined.callers.leave(site.context)
      joined.waiting--
      if (joined.waiting === 0) {
        joined.ending.abort()
        if (inflight.get(sharedKey) === joined) inflight.delete(sharedKey)
      }
      return new GrpcCallError('CANCELLED', 'the client disconnected')
    })
  }

  async #transmit(
    method: Callable,
    request: Uint8Array,
    site: CallSite,
    read: ReadReply<unknown>,
    entries: MetadataEntries,
    signal: Abortable | undefined,
    caller: unknown = site.context,
  ): Promise<Reply> {
    const { caller: send, watch } = this.#options
    const { path, isRead } = method
    const watched = watch(method, 'unary', site)
    let held: HeldReply | undefined
    try {
      const deadline = this.#deadlineOf(method, site)
      const maxRetries = isRead ? method.maxRetries : 0
      const metadata = watched.withHeaders(entries)
      const keepReply = (one: HeldReply): void => void (held = one)
      const call = {
        path,
        request,
        metadata,
        deadline,
        signal,
        caller,
        maxRetries,
        keepReply,
        ...watched.listeners,
      }
      const bytes = await watched.within(() => send(method.transport(), call, watched.attempt))
      const reading = read(bytes)
      const value = reading instanceof Promise ? await reading : reading
      watched.end('OK')
      return { bytes, read, value }
    } catch (error) {
      watched.end(statusOf(error), signal?.aborted, error)
      throw error
    } finally {
      held?.leave()
    }
  }

  #deadlineOf({ timeoutMs }: Callable, { context, info }: CallSite): number | undefined {
    if (timeoutMs <= 0) return undefined
    const { clock, operations } = this.#options
    return timeoutMs + (info ? operations.of(context, info).startedAt : clock.now())
  }

  #entriesOf({ context, metadata: own }: CallSite): MetadataEntries | Promise<MetadataEntries> {
    const entries = this.#options.metadata(context)
    return own ? after(entries, (others) => [...others, ...own]) : entries
  }
}

function repliesOf(
  method: Callable,
  messages: AsyncIterableIterator<Uint8Array>,
  watched: WatchedCall,
  signal: Abortable | undefined,
  errors: RpcErrorOptions,
  release: (() => void) | undefined,
): AsyncIterableIterator<unknown> {
  const iterator: AsyncIterableIterator<unknown> = {
    async next() {
      try {
        const result = await messages.next()
        if (!result.done) return { done: false, value: method.decode(result.value) }
        watched.end('OK')
        release?.()
        return { done: true, value: undefined }
      } catch (error) {
        await messages.return?.()
        watched.end(statusOf(error), signal?.aborted, error)
        release?.()
        throw toRpcError(error, errors)
      }
    },
    async return() {
      release?.()
      await messages.return?.()
      watched.end('CANCELLED', true)
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => iterator,
  }
  return iterator
}

interface SharedCall {
  readonly reply: Promise<Reply>
  readonly ending: Ending
  readonly callers: Callers
  /** How many callers wait for the reply. */
  waiting: number
}

function statusOf(error: unknown): StatusName {
  return error instanceof GrpcCallError ? error.status : 'INTERNAL'
}
