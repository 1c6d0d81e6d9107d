import { createAttachment, isNotFromHttp, systemClock } from '@vinyasa/base'
import { type Behaviour, bringPipeline, type ResponseHead } from '@vinyasa/pipeline'
import { chosenParser, parserHooks, yogasPlugins } from '@vinyasa/yoga-internals'
import type { Plugin } from 'graphql-yoga'
import { createCacheBehaviour } from './answer/behaviour.ts'
import { type CachedResponse, type OperationReport, setCacheHeaders } from './http/cache-headers.ts'
import { createFrontDoor } from './http/front-door.ts'
import type { ResponseCacheOptions } from './options.ts'
import { createCacheEngine, type CacheEngine, type ResponseCache } from './response-cache.ts'

export interface ResponseCachePlugin extends Plugin {
  /** For the gateway: it changes no result by who asks. */
  readonly readsHeaders: readonly string[]
  readonly behaviour: Behaviour
}

/**
 * Answers GraphQL queries from a cache. Give it options, or a cache made by `createResponseCache` to
 * purge and observe it.
 *
 * A plugin placed before it sees the execution of every query; one placed after it does not see those answered from
 * the cache. Hooks of the request, of parsing and validation, and of the context run in either case, so authentication
 * there guards hits wherever it stands.
 */
export function useResponseCache(
  cacheOrOptions: ResponseCache | ResponseCacheOptions = {},
): ResponseCachePlugin {
  const isOwn = !('purge' in cacheOrOptions)
  const cache = isOwn ? createCacheEngine(cacheOrOptions) : (cacheOrOptions as CacheEngine)
  const { varyHeaders = ['Authorization'], clientMaxAge = false, clock = systemClock } = cache.options
  const { session, enabled } = cache.options
  /** What of a request the code looks at, no cache on the way can know. */
  const isDecidedByCode = session !== undefined || enabled !== undefined
  const reports = createAttachment<OperationReport[]>()
  const begun = createAttachment<OperationReport>()
  const answers = createCacheBehaviour(
    cache,
    (context, request) => begun.get(context) ?? begin(context, request),
  )
  let plugins: readonly Plugin[] = []

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
    behaviour: {
      name: 'responseCache',
      // Only the hooks can say that the client's copy is still the answer.
      accepts: ({ method, headers }) => method !== 'GET' || headers['if-none-match'] === undefined,
      begin: ({ context, request }) => void begin(context, request),
      execute: answers.execute,
      deliver: answers.deliver,
      respond: ({ request }, response) => void setHeaders(request, response),
    },
    onPluginInit(payload) {
      plugins = payload.plugins
      bringPipeline(payload)
      // Behind Yoga's own plugins, which `addPlugin` cannot reach.
      payload.plugins.push(frontDoor.last)
    },

    onRequestParse: frontDoor.onRequestParse,

    // An operation that is refused before it is executed has a report, too.
    onParams({ context, request }) {
      if (!isNotFromHttp(context)) begin(context, request)
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
      answers.close()
      if (isOwn) await cache.close()
    },
  }

  function begin(context: object, request: Request): OperationReport {
    const report: OperationReport = { outcome: 'BYPASS', isPersonal: isDecidedByCode }
    begun.set(context, report)
    const known = reports.get(request)
    if (known) known.push(report)
    else reports.set(request, [report])
    return report
  }

  /** True: the client's copy is still the answer. */
  function setHeaders(request: Request, response: CachedResponse | ResponseHead): boolean {
    const known = reports.get(request)
    return (
      known !== undefined &&
      setCacheHeaders(request, response, known, { varyHeaders, clientMaxAge, now: clock.now() })
    )
  }

  return plugin
}

function once<T>(compute: () => T): () => T {
  let value: { readonly of: T } | undefined
  return () => (value ??= { of: compute() }).of
}
