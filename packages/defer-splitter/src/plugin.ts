import {
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLDirective,
  type GraphQLSchema,
  parse,
  type ValidationRule,
} from 'graphql'
import { type GraphQLParams, type Plugin, processRegularResult, type FetchAPI } from 'graphql-yoga'
import { createAttachment, isAsyncIterable } from '@vinyasa/core'
import { type Behaviour, bringPipeline, createStreamResponse, withBehaviour } from '@vinyasa/core/pipeline'
import { createDeferBehaviour } from './behaviour.ts'
import {
  createIncrementalDirectives,
  incrementalRules,
  withIncrementalDirectives,
} from './document/directives.ts'
import { createDocumentCache } from './document/document.ts'
import {
  type DeferPreset,
  type DeferSplitterOptions,
  resolveOptions,
  type ResolvedOptions,
} from './options.ts'
import { mergeParts } from './parts.ts'
import { Deliveries, jsonTypeOf, type MultipartDelivery } from './wire/accept.ts'
import { createMultipart, multipartFormat } from './wire/multipart.ts'
import type { MaskError } from './wire/wire-format.ts'

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

export interface DeferSplitterPlugin extends Plugin {
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
