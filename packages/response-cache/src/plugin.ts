import { systemClock } from '@vinyasa/base'
import { chosenParser, parserHooks, yogasPlugins } from '@vinyasa/yoga-internals'
import type { ExecutionResult, GraphQLSchema } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { createFrontDoor } from './http/front-door.ts'
import type { OperationReport } from './http/cache-headers.ts'
import { type CachedResponse, setCacheHeaders } from './http/cache-headers.ts'
import { isPromise } from '@vinyasa/base'
import { createMutationEviction } from './answer/mutation-eviction.ts'
import type { ResponseCacheOptions } from './options.ts'
import type { OperationState } from './answer/operation-state.ts'
import { createPipeline } from './answer/pipeline.ts'
import { runThrough } from './answer/run-through.ts'
import { createSlot } from './slot.ts'
import { createShortWay, type ShortWay } from './short-way.ts'
import { createCacheEngine, type CacheEngine, type ResponseCache } from './response-cache.ts'
import { copyOf, createRefresher, type HandlerPayload, type ParamsHandler } from './answer/refresh.ts'

type Context = Record<string, unknown>
type Envelop = (context: Context) => { schema: GraphQLSchema; contextFactory(): unknown }

export interface ResponseCachePlugin extends Plugin {
  /** For node-handler: what is done in place of the hooks for a query that went through them before. */
  /** For the gateway: it changes no result by who asks. */
  readonly readsHeaders: readonly string[]
  /** For the gateway, which refuses a second one. */
  readonly behaviour: 'responseCache'
  readonly shortWay: ShortWay
}

/**
 * Answers GraphQL queries from a cache. Give it options, or a cache made by `createResponseCache` to
 * purge and observe it.
 *
 * A plugin placed before it sees every request; one placed after it does not see those answered from
 * the cache. Hooks of the request itself (`onRequest`, `onRequestParse`, `onParams`) and context
 * building run in either case, so authentication there guards hits wherever it stands.
 */
export function useResponseCache(
  cacheOrOptions: ResponseCache | ResponseCacheOptions = {},
): ResponseCachePlugin {
  const isOwn = !('purge' in cacheOrOptions)
  const cache = isOwn ? createCacheEngine(cacheOrOptions) : (cacheOrOptions as CacheEngine)
  const { varyHeaders = ['Authorization'], clientMaxAge = false, clock = systemClock } = cache.options
  const { hitsAt = 'auto', session, enabled, staleWhileRevalidateMs = 0 } = cache.options
  const pipeline = createPipeline(cache)
  const evict = createMutationEviction(cache, pipeline)
  const refresher = createRefresher(cache.emit)
  const states = createSlot<OperationState>()
  const reports = createSlot<OperationReport[]>()
  const shortWay = createShortWay({
    pipeline,
    refresh:
      staleWhileRevalidateMs > 0
        ? (payload, handler) => refresher.start(payload, copyOf(payload.context), handler)
        : undefined,
    // Whoever stands before the cache has had their say by then, and the context is built.
    answersEarly: () => !session && !enabled,
    noteReport,
    setHeaders: (request, response) => void setHeaders(request, response),
  })
  let plugins: readonly Plugin[] = []
  let schema: GraphQLSchema | undefined
  let getEnveloped: Envelop | undefined

  /** The engine's own plugin comes first; whoever else stands before this one guards its hits. */
  const isGuarded = once(() =>
    plugins
      .slice(1, plugins.indexOf(plugin))
      .some((other) => other.onExecute ?? other.onValidate ?? other.onParse),
  )
  const buildsContext = once(() => plugins.some((other) => other.onContextBuilding ?? other.onEnveloped))

  /** With `session` or `enabled` the finished context decides, so hits wait for it. */
  const answersEarly = once(
    () => hitsAt !== 'execute' && !session && !enabled && (hitsAt === 'params' || !isGuarded()),
  )

  /** Context building is where people authenticate: a hit must pass it like a miss. */
  async function passesContext(state: OperationState, context: Context): Promise<boolean> {
    Object.assign(context, { request: state.request, params: state.params })
    const enveloped = getEnveloped?.(context)
    if (!enveloped || enveloped.schema !== state.profile?.schema) return false
    try {
      await enveloped.contextFactory()
      return context['liveQuery'] === undefined
    } catch {
      // The ordinary way meets the same error and answers with it.
      return false
    }
  }

  const yogas = once(() => yogasPlugins(plugins))
  const frontDoor = createFrontDoor({
    jsonParser: once(() => chosenParser(parserHooks(yogas()), 'POST', 'application/json')),
    isReplaced: once(() => {
      const known = new Set<unknown>([frontDoor.last, ...Object.values(yogas())])
      const behind = plugins.slice(plugins.indexOf(plugin) + 1)
      return behind.some((other) => other.onRequestParse && !known.has(other))
    }),
  })

  const plugin: ResponseCachePlugin = {
    readsHeaders: [],
    behaviour: 'responseCache',
    shortWay,
    onPluginInit(payload) {
      plugins = payload.plugins
      // Behind Yoga's own plugins, which `addPlugin` cannot reach.
      payload.plugins.push(frontDoor.last)
    },
    onYogaInit({ yoga }) {
      getEnveloped = yoga.getEnveloped as unknown as Envelop
    },
    onSchemaChange(payload) {
      schema = payload.schema as GraphQLSchema
    },

    onRequestParse: frontDoor.onRequestParse,

    // As the handler of the final parameters it runs after every plugin's onParams, wherever they stand.
    onParams({ context, paramsHandler, setParamsHandler }) {
      if (isNotFromHttp(context)) return
      setParamsHandler((payload) => handle(payload as never, paramsHandler as never) as never)
    },

    onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      const context = args.contextValue as unknown as Context
      const { document, operationName } = args
      const input = { schema: args.schema as GraphQLSchema, document, operationName, context }
      if (pipeline.profileOf(input)?.operation === 'mutation') return evict(input, executeFn, setExecuteFn)
      const state = states.get(context)
      if (!state) return undefined
      const result = pipeline.beforeExecute(state, input)
      if (isPromise(result)) return result.then(answer)
      answer(result)
      return undefined

      function answer(found: ExecutionResult | undefined): undefined {
        if (found) setResultAndStopExecution(found)
      }
    },

    onResponse({ request, response, setResponse, fetchAPI }) {
      if (!setHeaders(request, response)) return
      const headers = new fetchAPI.Headers()
      response.headers.forEach((value, name) => {
        if (!name.startsWith('content-')) headers.set(name, value)
      })
      setResponse(new fetchAPI.Response(null, { status: 304, headers }))
    },

    async onDispose() {
      refresher.close()
      if (isOwn) await cache.close()
    },
  }

  /** True: the client's copy is still the answer. */
  function setHeaders(request: Request, response: CachedResponse): boolean {
    const known = reports.get(request)
    return (
      known !== undefined &&
      setCacheHeaders(request, response, known, { varyHeaders, clientMaxAge, now: clock.now() })
    )
  }

  function handle(payload: HandlerPayload, paramsHandler: ParamsHandler): unknown {
    const { request, params, context } = payload
    const snapshot = staleWhileRevalidateMs > 0 ? copyOf(context) : undefined
    const state: OperationState = {
      request,
      params,
      context,
      report: { outcome: 'BYPASS' },
      isRefresh: refresher.isRefresh(request),
      refresh:
        snapshot && (() => refresher.start(payload, snapshot, (again) => handle(again, paramsHandler))),
    }
    states.set(context, state)
    noteReport(request, state.report)
    const mayAnswer = !state.isRefresh && context['liveQuery'] === undefined && answersEarly()
    const next = () => runThrough(pipeline, state, () => paramsHandler(payload))
    const hit = mayAnswer ? pipeline.findEarly(state, schema) : undefined
    if (!hit) return next()
    if (!buildsContext()) return pipeline.answer(state, hit)
    return afterContext(state, context, next)
  }

  async function afterContext(state: OperationState, context: Context, next: () => unknown) {
    // What was found may be evicted while the context is built, so it is looked up again.
    const hit = (await passesContext(state, context)) ? pipeline.findEarly(state, schema) : undefined
    return hit ? pipeline.answer(state, hit) : next()
  }

  function noteReport(request: Request, report: OperationReport) {
    const known = reports.get(request)
    if (known) known.push(report)
    else reports.set(request, [report])
  }

  return plugin
}

/** Of a WebSocket, where nothing here says for whom an answer would be, or the run of a live query. */
function isNotFromHttp(context: object): boolean {
  return 'connectionParams' in context || 'liveQuery' in context
}

function once<T>(compute: () => T): () => T {
  let value: { readonly of: T } | undefined
  return () => (value ??= { of: compute() }).of
}
