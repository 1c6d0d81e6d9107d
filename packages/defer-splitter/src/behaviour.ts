import { isAsyncIterable, createAttachment, isPromise } from '@vinyasa/core'
import {
  argsOf,
  type Behaviour,
  type EndpointAlias,
  type Operation,
  withDocument,
  type Executor,
} from '@vinyasa/core/pipeline'
import type { DocumentNode, ExecutionArgs, ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql'
import type { DocumentCache } from './document/document.ts'
import { executeWhole, splitToStream, executeEagerly } from './eager/eager.ts'
import { formatNotAcceptable, tooManyFragments } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import { type Deliveries, jsonTypeOf } from './wire/accept.ts'
import { createMultipart } from './wire/multipart.ts'
import type { MaskError } from './wire/wire-format.ts'
import { executeStreaming } from './execution/streaming-run.ts'
import type { PartStream } from './execution/part-stream.ts'

/** A response in parts that reports whether its first part has errors. The hooks serialize a response with errors. */
type Parts = Pick<PartStream, 'hasErrors'>

const WITH_ERRORS: Parts = { hasErrors: () => true }
const WITHOUT_ERRORS: Parts = { hasErrors: () => false }

/** Executes operations in parts, and records which responses are in parts. */
class InParts {
  readonly #options: ResolvedOptions
  readonly #documents: DocumentCache
  /** Streams of parts, by context. */
  readonly parts = createAttachment<Parts>()
  /** Contexts whose operations were executed in parts. Their results are not split again. */
  readonly executed = createAttachment<true>()
  readonly streamed = createAttachment<true>()

  constructor(options: ResolvedOptions, documents: DocumentCache) {
    this.#options = options
    this.#documents = documents
  }

  note(
    { context, request }: { readonly context: object; readonly request: Request | undefined },
    parts: Parts,
  ): void {
    this.parts.set(context, parts)
    if (request) this.streamed.set(request, true)
  }

  executorFor(operation: Operation): Executor {
    const noted = (result: unknown): unknown => {
      if (isAsyncIterable(result))
        this.note(operation, 'hasErrors' in result ? (result as Parts & object) : WITH_ERRORS)
      return result
    }
    return (args, ordinarily) => {
      this.executed.set(operation.context, true)
      const document = this.#documents(args.document)
      const options = this.#options
      const result =
        options.strategy === 'eager'
          ? executeEagerly({ args, document, execute: ordinarily, options })
          : executeStreaming(args, options, document)
      return isPromise(result) ? result.then(noted) : noted(result)
    }
  }
}

export interface DeferBehaviourOptions {
  readonly options: ResolvedOptions
  readonly documents: DocumentCache
  readonly deliveries: Deliveries
  readonly maskError: MaskError
  readonly schema: () => GraphQLSchema | undefined
  /** Returns the path of the GraphQL endpoint. */
  readonly endpoint: () => string
}

/** A result from another plugin, with its operation. */
export interface Answered {
  readonly document: DocumentNode
  readonly operationName?: string | null | undefined
  readonly variables?: ExecutionArgs['variableValues']
  readonly context: object
  readonly request: Request | undefined
}

export interface DeferBehaviour {
  readonly behaviour: Behaviour
  /**
   * Returns the stream of parts of a complete result if the client accepts parts. Otherwise it returns the same result
   * or a refusal.
   */
  split(answered: Answered, result: ExecutionResult): unknown
  /** Returns whether the behaviour has handled an operation with this context. */
  isKnown(context: object): boolean
  /** Returns whether the response to a request is in parts. */
  isStreamed(request: Request): boolean
}

/**
 * Executes deferred queries in parts for clients that accept parts, and completely for other clients. Splits results of
 * the cache and of other plugins.
 */
export function createDeferBehaviour(given: DeferBehaviourOptions): DeferBehaviour {
  const { options, documents, deliveries, maskError } = given
  const { enabled, maxDeferredFragments, multipartBoundary: boundary, strategy, clock } = options
  const inParts = new InParts(options, documents)
  const known = createAttachment<true>()

  function countOf({ document, operationName, variables }: Answered): number {
    return documents(document).operation(operationName)?.countDeferred(variables) ?? 0
  }

  /** Returns the error for an operation with this number of fragments, or `undefined` if it can be executed. */
  function refusalOf(count: number, { context, request }: Answered): GraphQLError | undefined {
    if (!enabled || count === 0) return undefined
    if (count > maxDeferredFragments) return tooManyFragments(count, maxDeferredFragments)
    const isNeither = request && deliveries.accepted(context, request).preferred === 'neither'
    return isNeither ? formatNotAcceptable() : undefined
  }

  function split(answered: Answered, result: ExecutionResult): unknown {
    const { document, operationName, variables, context, request } = answered
    if (!enabled || !request || deliveries.accepted(context, request).preferred === 'json') return result
    const count = countOf(answered)
    if (count === 0) return result
    const refusal = refusalOf(count, answered)
    if (refusal) return { errors: [refusal] }
    const parts = splitToStream({
      result,
      document: documents(document),
      operationName,
      variables,
      schema: given.schema(),
      maxPatches: options.maxPatches,
    })
    if (isAsyncIterable(parts)) inParts.note(answered, result.errors?.length ? WITH_ERRORS : WITHOUT_ERRORS)
    return parts
  }

  return {
    split,
    isKnown: (context) => known.get(context) === true,
    isStreamed: (request) => inParts.streamed.get(request) === true,
    behaviour: {
      name: 'defer',
      alias: aliasOf(given),
      mediaTypeOf(accept) {
        const { preferred, isAlone } = deliveries.named(accept)
        if (preferred === 'json') return undefined
        return isAlone ? 'multipart/mixed' : jsonTypeOf(accept)
      },
      // The locations of errors in parts would refer to the executed document.
      lifts: ({ document }) => !documents(document).isIncremental,
      refuse(operation) {
        if (!documents(operation.prepared.document).isIncremental) return undefined
        const asked = answeredBy(operation)
        const count = countOf(asked)
        const refusal = refusalOf(count, asked)
        if (refusal) return { errors: [refusal] }
        if (strategy === 'streaming' && count > 0 && deliveries.of(asked.context, asked.request)) {
          operation.executor = inParts.executorFor(operation)
          operation.isForced = true
        }
        return undefined
      },
      execute(operation, next) {
        const document = documents(operation.prepared.document)
        if (!document.isIncremental) return next(operation)
        if (operation.isForced) return next({ ...operation, isForced: false })
        const { context, request } = operation
        if (countOf(answeredBy(operation)) === 0 || !deliveries.of(context, request))
          return next(withDocument(operation, document.stripped))
        if (operation.isWrapped) {
          // Another plugin's executor receives the complete query, and its result is split later.
          const execute = (args: ExecutionArgs): unknown => next(withDocument(operation, args.document))
          return executeWhole({ args: argsOf(operation), document, execute, options })
        }
        // V8 moves a literal that is assigned to a property to the old generation, with everything in it.
        const executor = inParts.executorFor(operation)
        operation.executor = executor
        return next(operation)
      },
      deliver(operation, result) {
        const { prepared, context } = operation
        if (!documents(prepared.document).isIncremental) return result
        known.set(context, true)
        return inParts.executed.get(context) ? result : split(answeredBy(operation), result)
      },
      stream({ context, request }, parts) {
        const delivery = deliveries.of(context, request)
        const begun = inParts.parts.get(context)
        if (!delivery || !begun || begun.hasErrors()) return undefined
        return createMultipart({ parts, delivery, boundary, maskError, clock })
      },
    },
  }
}

function aliasOf({ options, deliveries, endpoint }: DeferBehaviourOptions): EndpointAlias {
  return {
    paths: () => ({
      path: options.endpoint ?? `${endpoint().replace(/\/$/, '')}/defer`,
      endpoint: endpoint(),
    }),
    enter: (context) => deliveries.onEndpoint(context),
  }
}

function answeredBy({ prepared, params, context, request }: Operation): Answered {
  const { document, operationName } = prepared
  return { document, operationName, variables: params.variables, context, request }
}
