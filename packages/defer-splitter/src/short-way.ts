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
  begin(call: ShortCall): void
  execute<Call extends ShortCall>(call: Call, next: (call: Call) => unknown): unknown
  stream(call: ShortCall, parts: AsyncIterable<unknown>): Multipart | undefined
}

export interface ShortWayOptions {
  readonly options: ResolvedOptions
  readonly documents: DocumentCache
  readonly named: (accept: string) => AcceptedDelivery
  readonly jsonTypeOf: (accept: string) => string
  readonly maskError: MaskError
}

export interface DeferShortWay {
  readonly part: ShortWay
  /** The hooks found that our executor takes the place of Yoga's own for this document, and nobody else's. */
  learn(document: DocumentNode): void
  /** Whether the operation of a context was executed here: the hooks, if they come to run, leave its result as it is. */
  hasExecuted(context: object): boolean
  /** Whether what it came to is a stream. */
  hasStreamed(context: object): boolean
}

interface Begun {
  readonly delivery: MultipartDelivery
  hasExecuted: boolean
  stream: (AsyncIterable<unknown> & { hasErrors(): boolean }) | undefined
}

/**
 * The short way of deferred queries: those that the hooks streamed before, for clients that take parts. Whatever else is
 * asked of a document with `@defer`, and what the first part has errors in, goes the ordinary way.
 */
export function createDeferShortWay(given: ShortWayOptions): DeferShortWay {
  const { options, documents, named, jsonTypeOf, maskError } = given
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
    hasExecuted: (context) => begunOn(context)?.hasExecuted ?? false,
    hasStreamed: (context) => begunOn(context)?.stream !== undefined,
    part: {
      admits: ({ document }) => enabled || !documents.of(document).isIncremental,
      mediaTypeOf: (accept) => (named(accept).preferred === 'json' ? undefined : jsonTypeOf(accept)),
      begin(call) {
        const { document } = call.operation
        if (!streamed.has(document)) return
        const delivery = deliveryOf(call)
        if (!delivery) return
        const begun: Begun = { delivery, hasExecuted: false, stream: undefined }
        Object.defineProperty(call.context, BEGUN, { value: begun })
        const note = (result: Executed): Executed => {
          if (isAsyncIterable(result)) begun.stream = result
          return result
        }
        const executor = (args: ExecutionArgs): MaybePromise<unknown> => {
          begun.hasExecuted = true
          const result = executeStreaming(args, options, documents.of(document))
          return isPromise(result) ? result.then(note) : note(result)
        }
        // V8 makes a literal that is assigned to a property old at once, and all that it leads to outlives small collections.
        call.executor = executor
      },
      execute: (call, next) =>
        begunOn(call.context) || !documents.of(call.operation.document).isIncremental
          ? next(call)
          : undefined,
      stream({ context }, parts) {
        const { delivery, stream } = begunOn(context) ?? {}
        if (!delivery || parts !== stream || stream.hasErrors()) return undefined
        return createMultipart({ parts, delivery, boundary, maskError })
      },
    },
  }
}
