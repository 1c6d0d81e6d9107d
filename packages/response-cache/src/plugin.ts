import { IncomingMessage } from 'node:http'
import {
  chosenParser,
  createAttachment,
  isNotFromHttp,
  parserHooks,
  systemClock,
  type YogasPlugins,
  yogasPlugins,
} from '@vinyasa/core'
import { type Behaviour, bringPipeline, type ResponseHead, withBehaviour } from '@vinyasa/core/pipeline'
import type { FetchAPI, Plugin } from 'graphql-yoga'
import { createCacheBehaviour } from './answer/behaviour.ts'
import { type CachedResponse, type OperationReport, setCacheHeaders } from './http/cache-headers.ts'
import { OTHER_REQUEST, readsOf, recordReads, silently, withoutCopies } from './http/request-reads.ts'
import type { ResponseCacheOptions } from './options.ts'
import { type CacheEngine, createCacheEngine, type ResponseCache } from './response-cache.ts'

/**
 * Reads the JSON bodies of a plain Yoga server without Yoga's counting stream.
 * @param jsonParser returns Yoga's parser for JSON bodies, or `undefined` if it is unknown
 * @param isReplaced returns whether a later plugin can choose another parser
 */
function createFrontDoor(jsonParser: () => unknown, isReplaced: () => boolean) {
  const parsers = createAttachment<RequestParser>()
  /** Runs at the cache's position in the list of plugins, and records the chosen parser. */
  const wrapParser: NonNullable<Behaviour['wrapParser']> = (parse, request) => {
    if (parse === jsonParser()) parsers.set(request, parse as unknown as RequestParser)
    return parse
  }
  /** Runs after all other plugins, including Yoga's size limit. */
  const last: Plugin & { readonly behaviour: object } = {
    // node-handler does not run this hook, because it reads bodies without the stream.
    behaviour: {},
    onRequestParse({ request, serverContext, setRequestParser, fetchAPI }) {
      const parser = parsers.get(request)
      if (!parser || isReplaced()) return
      if (!silently(request, () => isBoundedBody(request, serverContext))) return
      setRequestParser(() => request.text().then((text) => parseJsonBody(text, request, parser, fetchAPI)))
    },
  }
  return { wrapParser, last }
}

interface ResponseCachePlugin extends Plugin {
  /** Declares to the gateway and other plugins that this plugin's results do not depend on request headers. */
  readonly readsHeaders: readonly string[]
  readonly behaviour: Behaviour
}

/**
 * Answers GraphQL queries from a cache. Pass options, or a cache from `createResponseCache` to purge and observe it.
 *
 * A plugin before the cache wraps the execution of every query. A plugin after the cache does not run for hits. Hooks
 * of the request, parsing, validation and the context always run, so authentication in these hooks also protects hits.
 */
export function useResponseCache(
  cacheOrOptions: ResponseCache | ResponseCacheOptions = {},
): ResponseCachePlugin {
  const isOwn = !('purge' in cacheOrOptions)
  const cache = isOwn ? createCacheEngine(cacheOrOptions) : (cacheOrOptions as CacheEngine)
  const { varyHeaders = ['Authorization'], clientMaxAge = false, clock = systemClock } = cache.options
  const { session, enabled, ignoredReads = [] } = cache.options
  const { exposeReasons = process.env['NODE_ENV'] === 'development' } = cache.options
  /** Other caches cannot evaluate these functions. */
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

  const behaviour: Behaviour = {
    name: 'responseCache',
    checkRequest(request) {
      // A `GET` request that is refused before `admit` gets the headers of a request without an operation.
      if (request.method === 'GET' && !reports.get(request)) reports.set(request, [])
    },
    wrapParser: frontDoor.wrapParser,
    // A refused operation also has a report.
    admit(_params, request, context) {
      if (!isNotFromHttp(context)) begin(context, request)
    },
    execute: answers.execute,
    deliver: answers.deliver,
    respond: ({ request }, response) => (setHeaders(request, response) ? 304 : undefined),
  }
  const hooks: Omit<ResponseCachePlugin, 'behaviour'> = {
    readsHeaders: [],
    onPluginInit(payload) {
      ;({ plugins } = payload)
      // The recorder was added, and then this hook is called again.
      if (recorder && plugins.includes(recorder)) return
      bringPipeline(payload)
      // `addPlugin` cannot add plugins after Yoga's own plugins.
      plugins.push(frontDoor.last)
      if (recorder) addRecorder(recorder, plugins)
    },

    async onDispose() {
      answers.close()
      if (isOwn) await cache.close()
    },
  }
  const plugin: ResponseCachePlugin = withBehaviour(hooks, behaviour)

  function begin(context: object, request: Request): OperationReport {
    // If a plugin replaced the request, it can have read any part of the original request.
    if (recorder && isSeenBefore() && !readsOf(request)) recordReads(request, context).note(OTHER_REQUEST)
    const report: OperationReport = { outcome: 'BYPASS', isPersonal: isDecidedByCode }
    begun.set(context, report)
    const known = reports.get(request)
    if (known) known.push(report)
    else reports.set(request, [report])
    return report
  }

  /** Returns true if the client's copy is current. */
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
 * Creates the plugin that records the reads of each request before the hooks of other plugins. If other plugins read
 * nothing before a hit is sent, recording starts with the execution, because it takes an eighth of the time of a hit.
 */
function createRecorder(isSeenBefore: () => boolean): Plugin & { readonly behaviour: Behaviour } {
  return withBehaviour(
    {},
    { receive: (request, context) => void (isSeenBefore() && recordReads(request, context)) },
  )
}

/** Members of a behaviour that run after the cache's lookup or that receive no request. */
const LATE: ReadonlySet<string> = new Set(
  'name plan deliver stream respond onPart lifts admits mediaTypeOf'.split(' '),
)

/** Returns whether a plugin can read a request before the cache's lookup. `ours` are plugins that do not. */
function anyLooksEarly(plugins: readonly object[], yogas: YogasPlugins, ours: readonly unknown[]): boolean {
  const known = new Set([...ours, ...Object.values(yogas)])
  // These two plugins call user code. The second does so only if the schema is a function.
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

/** Returns all property names, because those of a class are not enumerable. */
function membersOf(object: object | null): string[] {
  if (!object || object === Object.prototype) return []
  const base = Object.getPrototypeOf(object) as object | null
  // A class has the property `constructor`.
  return [...Object.getOwnPropertyNames(object), ...membersOf(base)].filter((name) => name !== 'constructor')
}

/** Inserts the recorder before all plugins except Yoga's own plugins. */
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

type RequestParsePayload = Parameters<NonNullable<Plugin['onRequestParse']>>[0]
type RequestParser = NonNullable<RequestParsePayload['requestParser']>

/**
 * Returns whether the body comes directly from Node and ends at the Content-Length that Yoga's limit checked. Yoga's
 * counting stream, which costs more than a hit, then is not necessary.
 */
export function isBoundedBody(request: Request, serverContext: object): boolean {
  const { req } = serverContext as { readonly req?: unknown }
  // If the body was partly read, waiting for it would never end.
  if (!(req instanceof IncomingMessage) || req.readableDidRead || req.destroyed) return false
  // Yoga's class holds its source. Other classes can need to create a request for this check, so they are not
  // supported.
  if (!Object.hasOwn(request, 'bodyInit')) return false
  if ((request as { readonly bodyInit?: unknown }).bodyInit !== req) return false
  // A lenient parser accepts chunks beyond a Content-Length.
  if (req.headers['transfer-encoding'] !== undefined) return false
  return request.headers.get('content-length') === receivedLength(req)
}

/**
 * Returns the length as received. A plugin that changes the headers of the request also changes those of the message.
 */
function receivedLength({ rawHeaders }: IncomingMessage): string | undefined {
  const name = 'content-length'
  const at = rawHeaders.findIndex((raw) => raw.length === name.length && raw.toLowerCase() === name)
  return rawHeaders[at + 1]
}

/** Returns the parameters in a body. `parser` is Yoga's parser, which creates the error for other bodies. */
function parseJsonBody(
  text: string,
  { url, method, headers }: Request,
  parser: RequestParser,
  fetchAPI: FetchAPI,
): ReturnType<RequestParser> {
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null) return parsed
  } catch {
    // The parser below reports the error.
  }
  return parser(new fetchAPI.Request(url, { method, headers, body: text }))
}
