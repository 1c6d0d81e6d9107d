import type { DocumentNode, ExecutionArgs, ExecutionResult } from 'graphql'
import type { DocumentCache } from './document/document-cache.ts'
import { executeStreaming } from './execution/execute-streaming.ts'
import type { PartStream } from './execution/part-stream.ts'
import type { Executed } from './execution/streaming-run.ts'
import { isAsyncIterable, isPromise, type MaybePromise } from '@vinyasa/base'
import type { ResolvedOptions } from './options.ts'
import type { AcceptedDelivery, MultipartDelivery } from './wire/accept.ts'
import { createMultipart, type Multipart } from './wire/multipart.ts'
import type { MaskError } from './wire/wire-format.ts'

/** One request for a query that went through every hook before, as node-handler hands it out. */
export interface ShortCall {
  readonly operation: Pick<ExecutionArgs, 'document' | 'operationName'>
  readonly params: { readonly variables?: ExecutionArgs['variableValues'] }
  readonly request: Request
  readonly context: object
  executor?: ((args: ExecutionArgs) => MaybePromise<unknown>) | undefined
}

/** What node-handler calls in place of the hooks. */
export interface ShortWay {
  admits(operation: { readonly document: DocumentNode }): boolean
  mediaTypeOf(accept: string): string | undefined
  admitsCall(call: ShortCall): boolean
  execute<Call extends ShortCall>(call: Call, next: (call: Call) => unknown): unknown
  deliver(call: ShortCall, result: ExecutionResult): unknown
  stream(call: ShortCall, parts: AsyncIterable<unknown>): Multipart | undefined
}

export interface ShortWayOptions {
  readonly options: ResolvedOptions
  readonly documents: DocumentCache
  readonly named: (accept: string) => AcceptedDelivery
  readonly jsonTypeOf: (accept: string) => string
  readonly maskError: MaskError
  /** Told of requests that are answered in parts. */
  readonly onStream: (request: Request) => void
  /** A whole result of a deferred operation as the stream of its parts. */
  readonly split: (call: Pick<ShortCall, 'operation' | 'params'>, result: ExecutionResult) => unknown
}

export interface DeferShortWay {
  readonly part: ShortWay
  /** The hooks found that our executor takes the place of Yoga's own for this document, and nobody else's. */
  learn(document: DocumentNode): void
}

interface Begun {
  readonly delivery: MultipartDelivery
  /** What tells whether the first part has errors; undefined: the answer is not in parts. */
  stream: Pick<PartStream, 'hasErrors'> | undefined
}

const WITHOUT_ERRORS: Begun['stream'] = { hasErrors: () => false }

/**
 * The short way of deferred queries: those that the hooks streamed before, for clients that take parts. Whatever else is
 * asked of a document with `@defer` goes the ordinary way; what the first part has errors in is written by the hooks.
 */
export function createDeferShortWay(given: ShortWayOptions): DeferShortWay {
  const { options, documents, named, jsonTypeOf, maskError, onStream, split } = given
  const { enabled, maxDeferredFragments, multipartBoundary: boundary } = options
  const streamed = new WeakSet<DocumentNode>()
  /** On the context itself: a WeakMap would keep the whole stream over small collections. Copies do not take it along. */
  const BEGUN = Symbol('vinyasa.defer-splitter.begun')

  function begunOn(context: object): Begun | undefined {
    return (context as { readonly [BEGUN]?: Begun })[BEGUN]
  }

  function begin({ context }: ShortCall, delivery: MultipartDelivery): Begun {
    const begun: Begun = { delivery, stream: undefined }
    Object.defineProperty(context, BEGUN, { value: begun })
    return begun
  }

  function deliveryOf({ operation, params, request }: ShortCall): MultipartDelivery | undefined {
    const { document, operationName } = operation
    const count = documents.of(document).operation(operationName)?.countDeferred(params.variables) ?? 0
    if (count === 0 || count > maxDeferredFragments) return undefined
    const { preferred, multipart } = named(request.headers.get('accept') ?? '')
    return preferred === 'multipart' ? multipart : undefined
  }

  return {
    learn: (document) => void streamed.add(document),
    part: {
      admits: ({ document }) => enabled || !documents.of(document).isIncremental,
      mediaTypeOf: (accept) => (named(accept).preferred === 'json' ? undefined : jsonTypeOf(accept)),
      // Whatever else is asked of a document with `@defer` goes the ordinary way.
      admitsCall(call) {
        const { document } = call.operation
        if (!documents.of(document).isIncremental) return true
        return streamed.has(document) && deliveryOf(call) !== undefined
      },
      execute(call, next) {
        const { document } = call.operation
        const delivery = documents.of(document).isIncremental ? deliveryOf(call) : undefined
        if (!delivery) return next(call)
        const begun = begin(call, delivery)
        const note = (result: Executed): Executed => {
          if (isAsyncIterable(result)) {
            begun.stream = result
            onStream(call.request)
          }
          return result
        }
        const executor = (args: ExecutionArgs): MaybePromise<unknown> => {
          const result = executeStreaming(args, options, documents.of(document))
          return isPromise(result) ? result.then(note) : note(result)
        }
        // V8 makes a literal that is assigned to a property old at once, and all that it leads to outlives small collections.
        call.executor = executor
        return next(call)
      },
      // What the cache answers with, or another plugin, was not executed here.
      deliver(call, result) {
        const { document } = call.operation
        if (!documents.of(document).isIncremental || begunOn(call.context)) return result
        const delivery = deliveryOf(call)
        if (!delivery || result.errors?.length) return result
        const parts = split(call, result)
        if (!isAsyncIterable(parts)) return result
        begin(call, delivery).stream = WITHOUT_ERRORS
        onStream(call.request)
        return parts
      },
      stream({ context }, parts) {
        const { delivery, stream } = begunOn(context) ?? {}
        if (!delivery || !stream || stream.hasErrors()) return undefined
        return createMultipart({ parts, delivery, boundary, maskError })
      },
    },
  }
}
