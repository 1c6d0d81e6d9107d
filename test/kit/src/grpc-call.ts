import {
  type MethodDefinition,
  Metadata,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js'

/** What the backend saw of one call. Times are `performance.now()`. */
export interface RecordedCall {
  /** `package.Service/Method` */
  readonly method: string
  readonly at: number
  /** The request message; for a client stream the messages so far. */
  readonly request: any
  /** Values by name, as received. */
  readonly metadata: Readonly<Record<string, readonly (string | Buffer)[]>>
  /** Milliseconds the caller still gave it at arrival; undefined without a deadline. */
  readonly timeLeftMs: number | undefined
  /** When the caller cancelled or went away, or its deadline passed. */
  cancelledAt: number | undefined
  /** When the handler was through. */
  endedAt: number | undefined
  /** Messages of a server stream that were handed to the socket. */
  sent: number
}

export interface GrpcCallContext {
  /** Aborted when the caller cancels, goes away, or its deadline passes. */
  readonly signal: AbortSignal
  readonly metadata: Metadata
  /** Sends initial metadata before the answer. */
  sendMetadata(metadata: Metadata): void
  /** What is put here goes with the end, whatever the status. */
  readonly trailers: Metadata
}

/**
 * Unary and client streaming: returns the answer or a promise of it. Server and duplex streaming: returns an
 * (async) iterable; each message waits until the socket has room. A caller's stream arrives as an async iterable
 * in place of `request`. Throw `grpcError(...)` for a status.
 */
export type GrpcHandler = (request: any, call: GrpcCallContext) => unknown

type AnyCall = ServerUnaryCall<any, any> &
  ServerWritableStream<any, any> &
  ServerReadableStream<any, any> &
  ServerDuplexStream<any, any>

/** The function that grpc-js calls for one method: records the call, runs the handler, writes its answer. */
export function createCallRunner(
  method: MethodDefinition<any, any>,
  calls: RecordedCall[],
  handlerOf: () => GrpcHandler | undefined,
): (call: any, callback?: any) => void {
  const name = method.path.slice(1)

  return (call: AnyCall, callback?: sendUnaryData<any>): void => {
    const abort = new AbortController()
    const record: RecordedCall = {
      method: name,
      at: performance.now(),
      request: method.requestStream ? [] : call.request,
      metadata: valuesOf(call.metadata),
      timeLeftMs: timeLeft(call.getDeadline()),
      cancelledAt: undefined,
      endedAt: undefined,
      sent: 0,
    }
    calls.push(record)
    call.on('cancelled', () => {
      // grpc-js says so as well when a call that was answered closes.
      if (record.endedAt !== undefined) return
      record.cancelledAt ??= performance.now()
      abort.abort()
    })
    // A stream whose peer is gone reports that here as well; `cancelled` has told it.
    call.on('error', () => {})

    const request = method.requestStream ? recording(call, record) : call.request
    void serve(call, callback, record, request, {
      signal: abort.signal,
      metadata: call.metadata,
      sendMetadata: (metadata) => call.sendMetadata(metadata),
      trailers: new Metadata(),
    })
  }

  async function serve(
    call: AnyCall,
    callback: sendUnaryData<any> | undefined,
    record: RecordedCall,
    request: unknown,
    context: GrpcCallContext,
  ): Promise<void> {
    try {
      const handler = handlerOf()
      if (!handler) throw Object.assign(new Error(`No handler for ${name}`), { code: status.UNIMPLEMENTED })
      const answer = await handler(request, context)
      if (callback) callback(null, answer, context.trailers)
      else await writeAll(call, answer as AsyncIterable<unknown>, record, context)
    } catch (error) {
      const failure = withTrailers(error as ServerError, context.trailers)
      if (callback) callback(failure)
      else call.emit('error', failure)
    } finally {
      record.endedAt = performance.now()
    }
  }
}

async function writeAll(
  call: AnyCall,
  messages: AsyncIterable<unknown> | Iterable<unknown>,
  record: RecordedCall,
  { signal, trailers }: GrpcCallContext,
): Promise<void> {
  for await (const message of messages) {
    if (signal.aborted) return
    const hasRoom = call.write(message)
    record.sent++
    if (!hasRoom) await drained(call, signal)
  }
  call.end(trailers)
}

function drained(call: AnyCall, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      call.off('drain', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    call.on('drain', done)
    signal.addEventListener('abort', done)
  })
}

async function* recording(call: AsyncIterable<unknown>, record: RecordedCall): AsyncIterable<unknown> {
  for await (const message of call) {
    record.request.push(message)
    yield message
  }
}

function timeLeft(deadline: Date | number): number | undefined {
  const at = typeof deadline === 'number' ? deadline : deadline.getTime()
  return Number.isFinite(at) ? at - Date.now() : undefined
}

function valuesOf(metadata: Metadata): Record<string, (string | Buffer)[]> {
  return Object.fromEntries(Object.keys(metadata.getMap()).map((name) => [name, metadata.get(name)]))
}

interface ServerError extends Error {
  metadata?: Metadata | undefined
}

/** An error that says itself what goes with it is left as it is. */
function withTrailers(error: ServerError, trailers: Metadata): ServerError {
  error.metadata ??= trailers
  return error
}
