import {
  createAttachment,
  isNotFromHttp,
  systemClock,
  chosenParser,
  parserHooks,
  type YogasPlugins,
  yogasPlugins,
} from '@vinyasa/core'
import { type Behaviour, bringPipeline, notModified, type ResponseHead } from '@vinyasa/core/pipeline'
import type { Plugin } from 'graphql-yoga'
import { createCacheBehaviour } from './answer/behaviour.ts'
import { type CachedResponse, type OperationReport, setCacheHeaders } from './http/cache-headers.ts'
import { OTHER_REQUEST, readsOf, recordReads, withoutCopies, silently } from './http/request-reads.ts'
import type { ResponseCacheOptions } from './options.ts'
import { createCacheEngine, type CacheEngine, type ResponseCache } from './response-cache.ts'
import { isBoundedBody, parseJsonBody, type RequestParser } from './http/json-body.ts'

type RequestParseHook = NonNullable<Plugin['onRequestParse']>

/**
 * Reads the JSON bodies of a plain Yoga server without the stream in which Yoga counts them.
 * @param jsonParser Yoga's own for JSON bodies; undefined: not known.
 * @param isReplaced Whether a plugin behind the cache may choose another parser.
 */
function createFrontDoor(jsonParser: () => unknown, isReplaced: () => boolean) {
  const parsers = createAttachment<RequestParser>()
  /** At the cache's own place among the plugins: sees which parser was chosen. */
  const onRequestParse: RequestParseHook = ({ request, requestParser }) => {
    if (requestParser && requestParser === jsonParser()) parsers.set(request, requestParser)
  }
  /** Comes after every other plugin, Yoga's size limit among them. */
  const last: Plugin & { readonly behaviour: object } = {
    // For node-handler, which reads bodies without that stream.
    behaviour: {},
    onRequestParse({ request, serverContext, setRequestParser, fetchAPI }) {
      const parser = parsers.get(request)
      if (!parser || isReplaced()) return
      if (!silently(request, () => isBoundedBody(request, serverContext))) return
      setRequestParser(() => request.text().then((text) => parseJsonBody(text, request, parser, fetchAPI)))
    },
  }
  return { onRequestParse, last }
}

export interface ResponseCachePlugin extends Plugin {
  /** For the gateway, and for other plugins: it changes no result by who asks. */
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
  const { session, enabled, ignoredReads = [] } = cache.options
  const { exposeReasons = process.env['NODE_ENV'] === 'development' } = cache.options
  /** What of a request the code looks at, no cache on the way can know. */
  const isDecidedByCode = session !== undefined || enabled !== undefined
  const reports = createAttachment<OperationReport[]>()
  const begun = createAttachment<OperationReport>()
  const answers = createCacheBehaviour(
    cache,
    (context, request) => begun.get(context) ?? begin(context, request),
    (context, request) => void (recorder && recordReads(request, context)),
  )
  let plugins: Plugin[] = []
  const yogas = once(() => yogasPlugins(plugins))
  const isSeenBefore: () => boolean = once(() =>
    anyLooksEarly(plugins, yogas(), [plugin, recorder, frontDoor.last]),
  )
  const recorder = ignoredReads.includes('*') ? undefined : createRecorder(isSeenBefore)
  const frontDoor = createFrontDoor(
    once(() => chosenParser(parserHooks(yogas()), 'POST', 'application/json')),
    once((): boolean => {
      const known = new Set<unknown>([frontDoor.last, ...Object.values(yogas())])
      const behind = plugins.slice(plugins.indexOf(plugin) + 1)
      return behind.some((other) => other.onRequestParse && !known.has(other))
    }),
  )

  const plugin: ResponseCachePlugin = {
    readsHeaders: [],
    behaviour: {
      name: 'responseCache',
      begin: ({ context, request }) => void begin(context, request),
      execute: answers.execute,
      deliver: answers.deliver,
      respond: ({ request }, response) => (setHeaders(request, response) ? 304 : undefined),
    },
    onPluginInit(payload) {
      ;({ plugins } = payload)
      // The recorder is added; then this hook is called again.
      if (recorder && plugins.includes(recorder)) return
      bringPipeline(payload)
      // Behind Yoga's own plugins, which `addPlugin` cannot reach.
      plugins.push(frontDoor.last)
      if (recorder) addRecorder(recorder, plugins)
    },

    onRequestParse(payload) {
      const { request } = payload
      // A GET request that is refused before `onParams` gets the headers of one without an operation.
      if (request.method === 'GET' && !reports.get(request)) reports.set(request, [])
      return frontDoor.onRequestParse(payload)
    },

    // An operation that is refused before it is executed has a report, too.
    onParams({ context, request }) {
      if (!isNotFromHttp(context)) begin(context, request)
    },

    onResponse({ request, response, setResponse, fetchAPI }) {
      if (setHeaders(request, response)) setResponse(notModified(response, fetchAPI))
    },

    async onDispose() {
      answers.close()
      if (isOwn) await cache.close()
    },
  }

  function begin(context: object, request: Request): OperationReport {
    // A request that a plugin has put in the place of another is made of what it read.
    if (recorder && isSeenBefore() && !readsOf(request)) recordReads(request, context).note(OTHER_REQUEST)
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
      setCacheHeaders(request, response, known, {
        varyHeaders,
        clientMaxAge,
        exposeReasons,
        now: clock.now(),
      })
    )
  }

  return plugin
}

/**
 * Records the reads of each request, before the hooks of any other plugin see it. Where none does before a hit is sent, it begins
 * when the operation is to be executed: it is an eighth of what a hit costs.
 */
function createRecorder(isSeenBefore: () => boolean): Plugin & { readonly behaviour: Behaviour } {
  return {
    behaviour: { receive: (request, context) => void (isSeenBefore() && recordReads(request, context)) },
    onRequest: ({ request, serverContext }) => void recordReads(request, serverContext as object),
  }
}

/** Members of a behaviour that are called for no request, or not before the cache has looked for its answer. */
const LATE: ReadonlySet<string> = new Set(
  'name plan deliver stream respond onPart lifts admits mediaTypeOf'.split(' '),
)

/** Whether anybody can look at a request before the cache has looked for its answer. `ours`: plugins that do not. */
function anyLooksEarly(plugins: readonly object[], yogas: YogasPlugins, ours: readonly unknown[]): boolean {
  const known = new Set([...ours, ...Object.values(yogas)])
  // These two ask the user's code, the second where the schema is a function.
  known.delete(yogas.context)
  if (yogas.schema?.['onRequestParse']) known.delete(yogas.schema)
  return plugins.some((other) => !known.has(other) && looksEarly(other))
}

function looksEarly(plugin: object): boolean {
  const { behaviour = {}, readsHeaders } = plugin as Partial<ResponseCachePlugin>
  if (readsHeaders?.length === 0) return false
  const hasHooks = membersOf(plugin).some((name) => /^on[A-Z]/.test(name) && name !== 'onPluginInit')
  return hasHooks || membersOf(behaviour).some((name) => !LATE.has(name))
}

/** Those of a class are not enumerable. */
function membersOf(object: object | null): string[] {
  if (!object || object === Object.prototype) return []
  const base = Object.getPrototypeOf(object) as object | null
  // A class says `constructor` of itself.
  return [...Object.getOwnPropertyNames(object), ...membersOf(base)].filter((name) => name !== 'constructor')
}

/** The recorder comes before all plugins that are not Yoga's. */
function addRecorder(recorder: Plugin, plugins: Plugin[]): void {
  const { resultProcessors, bodyLimit } = yogasPlugins(plugins) as Readonly<
    Record<string, Plugin | undefined>
  >
  const limit = bodyLimit?.onRequestParse
  if (bodyLimit && limit)
    plugins[plugins.indexOf(bodyLimit)] = { ...bodyLimit, onRequestParse: withoutCopies(limit) }
  plugins.splice(plugins.indexOf(resultProcessors as Plugin) + 1, 0, recorder)
}

function once<T>(compute: () => T): () => T {
  let value: { readonly of: T } | undefined
  return () => (value ??= { of: compute() }).of
}
