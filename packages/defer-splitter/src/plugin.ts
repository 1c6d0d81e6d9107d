import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  parse,
  type ValidationRule,
} from 'graphql'
import { type GraphQLParams, type Plugin, processRegularResult } from 'graphql-yoga'
import { type AcceptedDelivery, type MultipartDelivery, parseMultipartAccept } from './wire/accept.ts'
import { createBoundedMemo } from './document/bounded-memo.ts'
import { allowDirectives, withIncrementalDirectives } from './document/directives.ts'
import { createDocumentCache } from './document/document-cache.ts'
import { executeEagerly, type ExecuteFunction, splitToStream } from './eager/eager.ts'
import { withUrl } from './wire/endpoint.ts'
import { formatNotAcceptable, tooManyFragments } from './errors.ts'
import { executeStreaming } from './execution/execute-streaming.ts'
import { plansOf } from './execution/plans.ts'
import { isAsyncIterable, isPromise } from '@vinyasa/base'
import { createMultipart, createMultipartResponse } from './wire/multipart.ts'
import { yogasExecutor } from '@vinyasa/yoga-internals'
import { type DeferPreset, type DeferSplitterOptions, isStreaming, resolveOptions } from './options.ts'
import { mergeParts } from './parts.ts'
import { createDeferShortWay, type ShortWay } from './short-way.ts'
import { incrementalRules } from './document/validation.ts'
import type { MaskError } from './wire/wire-format.ts'

/** What is needed to split a result that another plugin brings. */
type Source = Pick<ExecutionArgs, 'document' | 'operationName' | 'variableValues'>

export interface DeferSplitterPlugin extends Plugin {
  /** For node-handler: what is done in place of the hooks for queries that went through them before. */
  /** For the gateway: it changes no result by who asks. */
  readonly readsHeaders: readonly string[]
  /** For the gateway, which refuses a second one. */
  readonly behaviour: 'defer'
  readonly shortWay: ShortWay
}

/**
 * Gives a Yoga server `@defer`: over `multipart/mixed` on the GraphQL endpoint for clients that accept it, and always
 * on `<endpoint>/defer`. Every other client receives everything in one JSON result.
 *
 * @param given Options, or the name of one of the specification's presets.
 * @throws TypeError at start-up when an option cannot be used.
 */
export function useDeferSplitter(given?: DeferSplitterOptions | DeferPreset): DeferSplitterPlugin {
  const options = resolveOptions(given)
  const documents = createDocumentCache()
  // Clients send a handful of Accept headers; those of a hostile one push each other out.
  const accepts = createBoundedMemo<AcceptedDelivery>(100)
  // By Yoga's context object, which is one per operation.
  const onDeferEndpoint = new WeakSet<object>()
  const requested = new WeakMap<object, GraphQLParams>()
  const arrived = new WeakMap<object, Source | 'executed'>()
  const streamed = new WeakSet<Request>()
  /** Servers may set the same schema again for each request: it stays the same one. */
  const extendedSchemas = new WeakMap<GraphQLSchema, GraphQLSchema>()
  let endpoint = options.endpoint ?? '/graphql/defer'
  let graphqlEndpoint = '/graphql'
  let maskError: MaskError = options.maskError ?? ((error) => error)
  let schema: GraphQLSchema | undefined
  let plugins: readonly unknown[] = []
  let yogasOwn: unknown

  function named(accept: string): AcceptedDelivery {
    return accepts.of(accept, () => parseMultipartAccept(accept))
  }

  function accepted(context: object, request: Request): AcceptedDelivery {
    const given = named(request.headers.get('accept') ?? '')
    if (!onDeferEndpoint.has(context)) return given
    return {
      preferred: 'multipart',
      multipart: given.multipart ?? { format: 'patches', parameter: undefined },
    }
  }

  function deliveryOf(context: object, request: Request | undefined): MultipartDelivery | undefined {
    if (!options.enabled || !request) return undefined
    const { preferred, multipart } = accepted(context, request)
    return preferred === 'multipart' ? multipart : undefined
  }

  /** Why an operation with that many fragments is not executed. */
  function refusalOf(count: number, context: object, request: Request | undefined): GraphQLError | undefined {
    if (!options.enabled || count === 0) return undefined
    if (count > options.maxDeferredFragments) return tooManyFragments(count, options.maxDeferredFragments)
    const isNeither = request && accepted(context, request).preferred === 'neither'
    return isNeither ? formatNotAcceptable() : undefined
  }

  const short = createDeferShortWay({
    options,
    documents,
    named,
    jsonTypeOf,
    maskError: (error) => maskError(error),
    onStream: (request) => void streamed.add(request),
    split({ operation, params: { variables } }, result) {
      const { operationName } = operation
      const document = documents.of(operation.document)
      const { maxPatches } = options
      return splitToStream({ result, document, operationName, variables, schema, maxPatches })
    },
  })

  return {
    readsHeaders: [],
    behaviour: 'defer',
    shortWay: short.part,

    onPluginInit(init) {
      plugins = init.plugins
    },

    onYogaInit({ yoga }) {
      yogasOwn = yogasExecutor(plugins)
      graphqlEndpoint = yoga.graphqlEndpoint
      endpoint = options.endpoint ?? `${graphqlEndpoint.replace(/\/$/, '')}/defer`
      // Yoga keeps its masking to itself, and applies it to `errors` only, not to the errors of patches.
      const masking = yoga['maskedErrorsOpts']
      if (!options.maskError && masking) {
        maskError = (error) => masking.maskError(error, masking.errorMessage)
      }
    },

    onSchemaChange({ schema: changed, replaceSchema }) {
      const extended = extendedSchemas.get(changed) ?? withIncrementalDirectives(changed)
      extendedSchemas.set(changed, extended)
      schema = extended
      if (extended !== changed) replaceSchema(extended)
    },

    onRequest({ request, url, serverContext, fetchAPI, setRequest, endResponse }) {
      if (!request.url.includes(endpoint)) return
      const target = new fetchAPI.URL(request.url, 'http://localhost')
      if (target.pathname !== endpoint) return
      if (request.method !== 'POST') {
        endResponse(new fetchAPI.Response(null, { status: 405, headers: { Allow: 'POST' } }))
        return
      }
      if (serverContext) onDeferEndpoint.add(serverContext)
      target.pathname = graphqlEndpoint
      setRequest(withUrl(request, target.toString()))
      // Yoga's routing looks at both; `url` is made from the request unless an earlier hook has looked at it.
      if (url instanceof fetchAPI.URL) url.pathname = graphqlEndpoint
    },

    onParams({ params, context }) {
      // Yoga checks what clients sent only after the plugins have seen it.
      const query: unknown = params.query
      if (typeof query === 'string' && query.includes('defer')) requested.set(context, params)
    },

    onValidate({ params, addValidationRule }) {
      if (!documents.of(params.documentAST).isIncremental) return
      const known = new Set(params.rules?.map((rule: ValidationRule) => rule.name))
      for (const rule of incrementalRules) if (!known.has(rule.name)) addValidationRule(rule)
    },

    onExecute({ args, context, executeFn, setExecuteFn, setResultAndStopExecution }) {
      const document = documents.of(args.document)
      const execute = allowDirectives(executeFn as ExecuteFunction)
      if (!document.isIncremental) {
        if (execute !== executeFn) setExecuteFn(execute)
        return
      }
      const { document: original, operationName, variableValues } = args
      const request = (context as { readonly request?: Request }).request
      arrived.set(context, { document: original, operationName, variableValues })
      const count = document.operation(operationName)?.countDeferred(variableValues) ?? 0
      const refusal = refusalOf(count, context, request)
      if (refusal) {
        arrived.set(context, 'executed')
        setResultAndStopExecution({ errors: [refusal] })
        return
      }
      const isDeferred = count > 0 && deliveryOf(context, request) !== undefined
      const isStreamed = isStreaming(options.strategy, executeFn, yogasOwn)
      // Anything else than Yoga's own executor is there for a reason.
      const isYogas = yogasOwn !== undefined && executeFn === yogasOwn
      const plans = isYogas ? plansOf(plugins) : undefined
      if (isDeferred && isStreamed && isYogas) short.learn(original)
      const mark = (result: unknown): unknown => {
        if (request && isAsyncIterable(result)) streamed.add(request)
        return result
      }
      setExecuteFn((given: ExecutionArgs) => {
        arrived.set(context, 'executed')
        if (!isDeferred) {
          const whole = { ...given, document: document.stripped }
          return plans?.run(whole) ?? execute(whole)
        }
        const known = documents.of(given.document)
        const result = isStreamed
          ? executeStreaming(given, options, known)
          : executeEagerly({ args: given, document: known, execute, options })
        return isPromise(result) ? result.then(mark) : mark(result)
      })
    },

    onSubscribe({ args, subscribeFn, setSubscribeFn }) {
      const document = documents.of(args.document)
      if (!document.isIncremental) return
      // An event is one result.
      setSubscribeFn((given: ExecutionArgs) => subscribeFn({ ...given, document: document.stripped }))
    },

    onExecutionResult({ result, request, context, setResult }) {
      const params = requested.get(context)
      const source = arrived.get(context)
      if (!params || source === 'executed' || !result || isAsyncIterable(result)) return
      if (!options.enabled || accepted(context, request).preferred === 'json') return
      const split = splitForeign(result, source ?? parsed(params), context, request)
      if (split === undefined) return
      if (isAsyncIterable(split)) streamed.add(request)
      setResult(split as ExecutionResult)
    },

    onResultProcess({ request, result, serverContext, setResult, setResultProcessor }) {
      if (!isAsyncIterable(result)) {
        // Yoga would send a client that names multipart a single part.
        if (accepted(serverContext, request).preferred !== 'json') {
          setResultProcessor(processRegularResult, jsonTypeOf(request.headers.get('accept') ?? ''))
        }
        return Array.isArray(result) && streamed.has(request) ? mergeBatch(result).then(setResult) : undefined
      }
      const delivery = deliveryOf(serverContext, request)
      if (!delivery || !streamed.has(request)) return undefined
      // Yoga's compression plugin would hold every part back until the last.
      refuseEncoding(request.headers)
      const { multipartBoundary: boundary } = options
      setResultProcessor((given, fetchAPI) => {
        const parts = given as AsyncIterable<unknown>
        return createMultipartResponse(createMultipart({ parts, delivery, boundary, maskError }), fetchAPI)
      }, 'multipart/mixed')
      return undefined
    },
  }

  /** Splits a result that did not come from our executor: a cache hit, or another plugin's answer. */
  function splitForeign(
    result: ExecutionResult,
    source: Source | undefined,
    context: object,
    request: Request,
  ): unknown {
    if (!source) return undefined
    const { operationName, variableValues: variables } = source
    const document = documents.of(source.document)
    const count = document.operation(operationName)?.countDeferred(variables) ?? 0
    if (count === 0) return undefined
    const refusal = refusalOf(count, context, request)
    if (refusal) return { errors: [refusal] }
    const { maxPatches } = options
    return splitToStream({ result, document, operationName, variables, schema, maxPatches })
  }

  function parsed({ query, operationName, variables }: GraphQLParams): Source | undefined {
    if (!query) return undefined
    try {
      // Without locations, which keep every token, comments too, for as long as the document.
      const read = (text: string): DocumentNode => parse(text, { noLocation: true })
      return { document: documents.parse(query, read), operationName, variableValues: variables }
    } catch {
      // The answer was made without parsing; whoever made it answers for it.
      return undefined
    }
  }
}

/** Takes `Accept-Encoding` out of the request. Where its headers cannot be changed (Deno, workerd), hides it. */
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

function jsonTypeOf(accept: string): string {
  const isModern = accept.includes('application/graphql-response+json')
  return isModern ? 'application/graphql-response+json' : 'application/json'
}

/** The answers of a batch, each in one piece. */
function mergeBatch(entries: readonly unknown[]): Promise<ExecutionResult[]> {
  return Promise.all(
    entries.map((entry) => (isAsyncIterable(entry) ? mergeParts(entry) : (entry as ExecutionResult))),
  )
}
