import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLDirective,
  type GraphQLError,
  type GraphQLSchema,
  parse,
  type ValidationRule,
} from 'graphql'
import { type FetchAPI, type GraphQLParams, type Plugin, processRegularResult } from 'graphql-yoga'
import { createAttachment, isAsyncIterable, isPromise } from '@vinyasa/core'
import {
  argsOf,
  type Behaviour,
  bringPipeline,
  createStreamResponse,
  type EndpointAlias,
  type Executor,
  type Operation,
  withBehaviour,
  withDocument,
} from '@vinyasa/core/pipeline'
import {
  createIncrementalDirectives,
  incrementalRules,
  withIncrementalDirectives,
} from './document/directives.ts'
import { createDocumentCache, type DocumentCache } from './document/document.ts'
import {
  type DeferPreset,
  type DeferSplitterOptions,
  type ResolvedOptions,
  resolveOptions,
} from './options.ts'
import { mergeParts } from './parts.ts'
import { Deliveries, jsonTypeOf, type MultipartDelivery } from './wire/accept.ts'
import { createMultipart, multipartFormat } from './wire/multipart.ts'
import type { MaskError } from './wire/wire-format.ts'
import { executeEagerly, executeWhole, splitToStream } from './eager/eager.ts'
import { formatNotAcceptable, tooManyFragments } from './errors.ts'
import { executeStreaming } from './execution/streaming-run.ts'
import type { PartStream } from './execution/part-stream.ts'

/**
 * Serializes a complete result as a single part for clients that do not accept JSON, like Yoga and Apollo Router. The
 * status and headers are those of the result.
 */
function onlyPart(
  delivery: MultipartDelivery,
  boundary: string,
): (result: Parameters<typeof processRegularResult>[0], fetchAPI: FetchAPI) => Promise<Response> {
  return async (result, fetchAPI) => {
    const whole = await processRegularResult(result, fetchAPI, 'application/graphql-response+json')
    const json = (await whole.text()).replace(/}$/, ',"hasNext":false}')
    // The names are in lower case, because Yoga's class of headers would send names with different letter case twice.
    const headers: Record<string, string> = {}
    whole.headers.forEach((value, name) => (headers[name.toLowerCase()] = value))
    delete headers['content-length']
    const { headers: ofParts, open, before, last } = multipartFormat(delivery, boundary)
    headers['content-type'] = ofParts['Content-Type']
    headers['vary'] = headers['vary'] === undefined ? 'Accept' : `${headers['vary']}, Accept`
    return new fetchAPI.Response(`${open}${before}${json}${last}`, { status: whole.status, headers })
  }
}

interface DeferSplitterPlugin extends Plugin {
  /** Declares to the gateway that this plugin's results do not depend on request headers. */
  readonly readsHeaders: readonly string[]
  /** For the gateway, which keeps a schema unchanged if it already contains these directives. */
  readonly directives: readonly GraphQLDirective[]
  readonly behaviour: Behaviour
}

/**
 * Adds `@defer` to a Yoga server: over `multipart/mixed` on the GraphQL endpoint for clients that accept it, and for
 * all clients on `<endpoint>/defer`. Other clients receive one complete JSON result.
 *
 * @param given options, or the name of one of the specification's presets
 * @throws TypeError at startup if an option is invalid
 */
export function useDeferSplitter(given?: DeferSplitterOptions | DeferPreset): DeferSplitterPlugin {
  return createDeferSplitter(resolveOptions(given))
}

/** Creates the plugin. Tests resolve the options with other timers and limits. */
export function createDeferSplitter(options: ResolvedOptions): DeferSplitterPlugin {
  const directives = createIncrementalDirectives()
  const documents = createDocumentCache()
  const deliveries = new Deliveries(options)
  const requested = createAttachment<GraphQLParams>()
  /** Servers can set the same schema again for each request. The extended schema stays the same object. */
  const extendedSchemas = new WeakMap<GraphQLSchema, GraphQLSchema>()
  let graphqlEndpoint = '/graphql'
  let maskError: MaskError = (error) => error
  let schema: GraphQLSchema | undefined
  const { behaviour, split, isKnown, isStreamed } = createDeferBehaviour({
    options,
    documents,
    deliveries,
    maskError: (error) => maskError(error),
    schema: () => schema,
    endpoint: () => graphqlEndpoint,
  })
  // A result that a plugin returns in `onParams` has no other sign of its operation.
  const admit: Behaviour['admit'] = (params, _request, context) => {
    if (typeof params.query === 'string' && params.query.includes('defer'))
      requested.set(context, params as GraphQLParams)
  }

  const plugin: Omit<DeferSplitterPlugin, 'behaviour'> = {
    readsHeaders: [],
    directives,

    onPluginInit: bringPipeline,

    onYogaInit({ yoga }) {
      graphqlEndpoint = yoga.graphqlEndpoint
      // Yoga's masking is not public, and it applies only to `errors`, not to the errors of patches.
      const masking = yoga['maskedErrorsOpts']
      if (masking) maskError = (error) => masking.maskError(error, masking.errorMessage)
    },

    onSchemaChange({ schema: changed, replaceSchema }) {
      const extended = extendedSchemas.get(changed) ?? withIncrementalDirectives(changed, directives)
      extendedSchemas.set(changed, extended)
      schema = extended
      if (extended !== changed) replaceSchema(extended)
    },

    onValidate({ params, addValidationRule }) {
      if (!documents(params.documentAST).isIncremental) return
      const known = new Set(params.rules?.map((rule: ValidationRule) => rule.name))
      for (const rule of incrementalRules) if (!known.has(rule.name)) addValidationRule(rule)
    },

    onSubscribe({ args, subscribeFn, setSubscribeFn }) {
      const document = documents(args.document)
      if (!document.isIncremental) return
      // Events of subscriptions are complete results.
      setSubscribeFn((given: ExecutionArgs) => subscribeFn({ ...given, document: document.stripped }))
    },

    // Handles results of plugins that answer in `onParams`, which skips the pipeline.
    onExecutionResult({ result, request, context, setResult }) {
      const params = requested.get(context)
      if (!params || isKnown(context) || !result || isAsyncIterable(result)) return
      // The operation was not executed. The errors of an invalid document are sent regardless of the `Accept` header.
      if (!('data' in result)) return
      const source = parsed(params)
      if (!source) return
      const parts = split({ ...source, context, request }, result)
      if (parts !== result) setResult(parts as ExecutionResult)
    },

    onResultProcess({ request, result, serverContext, setResult, setResultProcessor }) {
      if (!isAsyncIterable(result)) {
        const { preferred, multipart, isAlone } = deliveries.accepted(serverContext, request)
        if (multipart && isAlone && !Array.isArray(result)) {
          setResultProcessor(onlyPart(multipart, options.multipartBoundary), 'multipart/mixed')
        } else if (preferred !== 'json') {
          // Yoga would send a single part to clients that accept multipart and JSON.
          setResultProcessor(processRegularResult, jsonTypeOf(request.headers.get('accept') ?? ''))
        }
        return Array.isArray(result) && isStreamed(request) ? mergeBatch(result).then(setResult) : undefined
      }
      const delivery = deliveries.of(serverContext, request)
      if (!delivery || !isStreamed(request)) return undefined
      // Yoga's compression plugin would buffer all parts.
      refuseEncoding(request.headers)
      const writing = { delivery, boundary: options.multipartBoundary, maskError, clock: options.clock }
      setResultProcessor((given, fetchAPI) => {
        const parts = given as AsyncIterable<unknown>
        return createStreamResponse(createMultipart({ parts, ...writing }), fetchAPI)
      }, 'multipart/mixed')
      return undefined
    },
  }
  return withBehaviour(plugin, { ...behaviour, admit })
}

/** Returns the client's operation, or `undefined` if the document has a syntax error. */
function parsed({ query, operationName, variables }: GraphQLParams) {
  if (!query) return undefined
  try {
    // Locations are omitted, because they keep every token of the document in memory, including comments.
    return { document: parse(query, { noLocation: true }), operationName, variables }
  } catch {
    // Another plugin created the response without parsing the document.
    return undefined
  }
}

/** Removes `Accept-Encoding` from the request. If its headers are immutable (Deno, workerd), the header is hidden. */
function refuseEncoding(headers: Headers): void {
  const refused = 'accept-encoding'
  try {
    headers.delete(refused)
  } catch {
    const get = headers.get.bind(headers)
    Object.defineProperty(headers, 'get', {
      value: (name: string) => (name.toLowerCase() === refused ? null : get(name)),
    })
  }
}

/** Merges the parts of each result of a batch. */
function mergeBatch(entries: readonly unknown[]): Promise<ExecutionResult[]> {
  return Promise.all(
    entries.map((entry) => (isAsyncIterable(entry) ? mergeParts(entry) : (entry as ExecutionResult))),
  )
}

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

interface DeferBehaviourOptions {
  readonly options: ResolvedOptions
  readonly documents: DocumentCache
  readonly deliveries: Deliveries
  readonly maskError: MaskError
  readonly schema: () => GraphQLSchema | undefined
  /** Returns the path of the GraphQL endpoint. */
  readonly endpoint: () => string
}

/** A result from another plugin, with its operation. */
interface Answered {
  readonly document: DocumentNode
  readonly operationName?: string | null | undefined
  readonly variables?: ExecutionArgs['variableValues']
  readonly context: object
  readonly request: Request | undefined
}

interface DeferBehaviour {
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
