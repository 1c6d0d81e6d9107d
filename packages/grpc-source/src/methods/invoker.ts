import type { DescMethod } from '@bufbuild/protobuf'
import type { MessageDecoder } from '../codec/decode.ts'
import type { Clock } from '../clock.ts'
import type { Caller, CallObserver, ObservedEnd } from '../runtime/call.ts'
import type { MetadataSource } from '../runtime/metadata.ts'
import { signalOf, type OperationInfo, type Operations, type Reply } from './operation.ts'
import { GrpcCallError, type StatusName, type MetadataEntries, type Transport } from '@vinyasa/grpc-transport'

/** A method with all that a call of it needs. */
export interface Callable {
  readonly desc: DescMethod
  readonly path: string
  readonly transport: () => Transport
  readonly decode: MessageDecoder
  /** 0: none. */
  readonly deadlineMs: number
  readonly retries: number
  /** A read: may be shared and sent again. */
  readonly isRead: boolean
}

/** Where a call comes from. */
export interface CallSite {
  readonly context: unknown
  readonly info: OperationInfo | undefined
  readonly signal?: AbortSignal | undefined
  readonly metadata?: MetadataEntries | undefined
}

/** Makes of a reply's bytes what a caller wants. Throws only where the bytes are no message of the declared type. */
export type ReadReply<T> = (bytes: Uint8Array) => T

/** The messages of a call, encoded. */
export type Requests = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

export interface Invoker {
  /** `read` runs within the call: what it throws is how the call ended. A reply that is shared is read once for each. */
  unary<T>(method: Callable, request: Uint8Array, site: CallSite, read: ReadReply<T>): Promise<T>
  /** Sends one request or several; those that come one by one end the call's sending when they end. */
  stream(method: Callable, requests: Requests, site: CallSite): Promise<AsyncIterableIterator<unknown>>
  /** Nobody joins a call any more that is under way now: something has changed since it began. */
  forget(): void
}

export interface InvokerOptions {
  readonly sourceName: string
  readonly caller: Caller
  readonly clock: Clock
  readonly operations: Operations
  readonly metadata: MetadataSource
  readonly dedupe: 'operation' | 'inflight' | false
  readonly observe: CallObserver | undefined
}

/** Calls methods for resolvers: deadline, metadata, sharing, observation. */
export function createInvoker(options: InvokerOptions): Invoker {
  const { sourceName, caller, clock, operations, metadata, dedupe, observe } = options
  const inflight = new Map<string, SharedCall>()

  async function unary<T>(
    method: Callable,
    request: Uint8Array,
    site: CallSite,
    read: ReadReply<T>,
  ): Promise<T> {
    const reply = await find(method, request, site, read)
    return reply.read === read ? (reply.value as T) : read(reply.bytes)
  }

  /** A reply that another reader may have asked for. */
  function find(
    method: Callable,
    request: Uint8Array,
    site: CallSite,
    read: ReadReply<unknown>,
  ): Promise<Reply> {
    const isShared =
      dedupe !== false &&
      method.isRead &&
      site.info?.operation.operation === 'query' &&
      site.metadata === undefined
    if (!isShared) return send(method, request, site, read)
    const key = `${method.path} ${Buffer.from(request.buffer, request.byteOffset, request.byteLength).toString('latin1')}`
    const { replies } = operations.of(site.context, site.info)
    let reply = replies.get(key)
    if (!reply) {
      reply =
        dedupe === 'inflight'
          ? sendShared(method, request, site, read, key)
          : send(method, request, site, read)
      replies.set(key, reply)
    }
    return reply
  }

  async function send(
    method: Callable,
    request: Uint8Array,
    site: CallSite,
    read: ReadReply<unknown>,
  ): Promise<Reply> {
    const entries = await entriesOf(site)
    return transmit(method, request, site, read, entries, site.signal ?? leavingOf(method, site))
  }

  /** One call for all requests that ask the same with the same metadata; it ends when the last of them left. */
  async function sendShared(
    method: Callable,
    request: Uint8Array,
    site: CallSite,
    read: ReadReply<unknown>,
    key: string,
  ): Promise<Reply> {
    const entries = await entriesOf(site)
    const sharedKey = `${key} ${JSON.stringify(entries)}`
    let shared = inflight.get(sharedKey)
    if (!shared) {
      const abort = new AbortController()
      const reply = transmit(method, request, site, read, entries, abort.signal).finally(() => {
        if (inflight.get(sharedKey) === shared) inflight.delete(sharedKey)
      })
      // All callers may be gone when it fails.
      reply.catch(() => {})
      shared = { reply, abort, callers: 0 }
      inflight.set(sharedKey, shared)
    }
    const joined = shared
    joined.callers++
    const leave = (): void => {
      joined.callers--
      if (joined.callers > 0) return
      joined.abort.abort()
      if (inflight.get(sharedKey) === joined) inflight.delete(sharedKey)
    }
    return settleUnlessAborted(joined.reply, site.signal ?? signalOf(site.context, site.info), leave)
  }

  async function transmit(
    method: Callable,
    request: Uint8Array,
    site: CallSite,
    read: ReadReply<unknown>,
    entries: MetadataEntries,
    signal: AbortSignal | undefined,
  ): Promise<Reply> {
    const { path, retries, isRead } = method
    const end = begin(method, 'unary', site.context)
    let attempts = 0
    try {
      const call = {
        path,
        request,
        metadata: entries,
        deadline: deadlineOf(method, site),
        signal,
        retries: isRead ? retries : 0,
      }
      const bytes = await caller.unary(method.transport(), call, () => attempts++)
      const value = read(bytes)
      end('OK', attempts)
      return { bytes, read, value }
    } catch (error) {
      end(statusOf(error), attempts)
      throw error
    }
  }

  async function stream(
    method: Callable,
    requests: Requests,
    site: CallSite,
  ): Promise<AsyncIterableIterator<unknown>> {
    const entries = await entriesOf(site)
    const end = begin(method, 'stream', site.context)
    const timeoutMs = method.deadlineMs > 0 ? method.deadlineMs : undefined
    const messages = method.transport().stream(
      {
        path: method.path,
        metadata: entries,
        timeoutMs,
        signal: site.signal ?? (isMutation(method) ? undefined : signalOf(site.context, site.info)),
      },
      requests,
    )
    const iterator: AsyncIterableIterator<unknown> = {
      async next() {
        try {
          const result = await messages.next()
          if (!result.done) return { done: false, value: method.decode(result.value) }
          end('OK', 1)
          return { done: true, value: undefined }
        } catch (error) {
          await messages.return?.()
          end(statusOf(error), 1)
          throw error
        }
      },
      async return() {
        await messages.return?.()
        end('CANCELLED', 1)
        return { done: true, value: undefined }
      },
      [Symbol.asyncIterator]: () => iterator,
    }
    return iterator
  }

  function deadlineOf(method: Callable, site: CallSite): number | undefined {
    if (method.deadlineMs <= 0) return undefined
    const from = site.info ? operations.of(site.context, site.info).startedAt : clock.now()
    return from + method.deadlineMs
  }

  function entriesOf({ context, metadata: own }: CallSite): MetadataEntries | Promise<MetadataEntries> {
    const entries = metadata(context)
    if (!own) return entries
    return entries instanceof Promise
      ? entries.then((resolved) => [...resolved, ...own])
      : [...entries, ...own]
  }

  function begin(
    method: Callable,
    kind: 'unary' | 'stream',
    context: unknown,
  ): (status: StatusName, attempts: number) => void {
    if (!observe) return () => {}
    const startedAt = clock.now()
    let onEnd: ((end: ObservedEnd) => void) | void
    try {
      onEnd = observe({
        source: sourceName,
        service: method.desc.parent.typeName,
        method: method.desc.name,
        kind,
        context,
      })
    } catch {
      // An observer must not fail the call it looks at.
    }
    return (status, attempts) => {
      const report = onEnd
      onEnd = undefined
      try {
        report?.({ status, durationMs: clock.now() - startedAt, attempts })
      } catch {
        // As above.
      }
    }
  }

  return {
    unary,
    stream,
    forget() {
      inflight.clear()
      operations.forget()
    },
  }
}

/** A client that leaves ends its reads. What it asked to be changed is changed all the same. */
function leavingOf({ isRead }: Callable, { context, info }: CallSite): AbortSignal | undefined {
  return isRead ? signalOf(context, info) : undefined
}

/** Streams of replies are read; a stream of requests that has one reply changes something. */
function isMutation({ desc, isRead }: Callable): boolean {
  return desc.methodKind === 'client_streaming' && !isRead
}

interface SharedCall {
  readonly reply: Promise<Reply>
  readonly abort: AbortController
  callers: number
}

function settleUnlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  leave: () => void,
): Promise<T> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      leave()
      reject(new GrpcCallError('CANCELLED', 'the caller went away'))
    }
    if (signal.aborted) {
      abort()
      return
    }
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

function statusOf(error: unknown): StatusName {
  return error instanceof GrpcCallError ? error.status : 'INTERNAL'
}
