import type { DocumentNode, ExecutionArgs } from 'graphql'
import type { DocumentCache } from './document/document-cache.ts'
import { executeStreaming } from './execution/execute-streaming.ts'
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
}

export interface DeferShortWay {
  readonly part: ShortWay
  /** The hooks found that our executor takes the place of Yoga's own for this document, and nobody else's. */
  learn(document: DocumentNode): void
}

interface Begun {
  readonly delivery: MultipartDelivery
  stream: (AsyncIterable<unknown> & { hasErrors(): boolean }) | undefined
}

/**
 * The short way of deferred queries: those that the hooks streamed before, for clients that take parts. Whatever else is
 * asked of a document with `@defer` goes the ordinary way; what the first part has errors in is written by the hooks.
 */
export function createDeferShortWay(given: ShortWayOptions): DeferShortWay {
  const { options, documents, named, jsonTypeOf, maskError, onStream } = given
  const { enabled, maxDeferredFragments, multipartBoundary: boundary } = options
  const streamed = new WeakSet<DocumentNode>()
  /** On the context itself: a WeakMap would keep the whole stream over small collections. Copies do not take it along. */
  const BEGUN = Symbol('vinyasa.defer-splitter.begun')

  function begunOn(context: object): Begun | undefined {
    return (context as { readonly [BEGUN]?: Begun })[BEGUN]
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
        const begun: Begun = { delivery, stream: undefined }
        Object.defineProperty(call.context, BEGUN, { value: begun })
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
      stream({ context }, parts) {
        const { delivery, stream } = begunOn(context) ?? {}
        if (!delivery || parts !== stream || stream.hasErrors()) return undefined
        return createMultipart({ parts, delivery, boundary, maskError })
      },
    },
  }
}
