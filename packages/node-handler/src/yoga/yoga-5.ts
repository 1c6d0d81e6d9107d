import type { FetchAPI } from 'graphql-yoga'
import { type MaybePromise, yogasPlugins, type YogasPlugins } from '@vinyasa/core'
import type { Hook, Logger, Pipeline } from '@vinyasa/core/pipeline'

/** A request in a hook payload: a Request of Yoga's fetch API or a light request. */
export type HookRequest = Request

export type ServerContext = Record<string, unknown>
export type RequestHandler = (request: HookRequest, context: ServerContext) => MaybePromise<Response>
/** The part of a Yoga server that node-handler uses. */
export interface YogaInternals extends Pick<
  Pipeline['server']['yoga'],
  'logger' | 'maskedErrors' | 'plugins'
> {
  readonly fetchAPI: FetchAPI
  readonly waitUntil: unknown
  /** The plugins that Yoga added. */
  readonly own: YogasPlugins
  readonly onRequest: readonly Hook[]
  readonly onResponse: readonly Hook[]
  readonly onRequestParse: readonly Hook[]
  readonly onParams: readonly Hook[]
  readonly onExecutionResult: readonly Hook[]
  readonly onResultProcess: readonly Hook[]
}

/** Hooks that node-handler runs, and hooks that Envelop and Yoga run for requests of every handler. */
const HONOURED: ReadonlySet<string> = new Set([
  'onRequest',
  'onResponse',
  'onRequestParse',
  'onParams',
  'onExecutionResult',
  'onResultProcess',
  'onYogaInit',
  'onDispose',
  'onPluginInit',
  'onSchemaChange',
  'onEnveloped',
  'onParse',
  'onValidate',
  'onContextBuilding',
  'onExecute',
  'onSubscribe',
])

/** Instrumentation of steps that only Yoga's handler runs. */
const DOOR_INSTRUMENTATION: ReadonlySet<string> = new Set([
  'request',
  'requestParse',
  'operation',
  'resultProcess',
])

type Plugin = Readonly<Record<string, unknown>> | null | undefined | false

type Found =
  | { readonly internals: YogaInternals; readonly reasons: readonly [] }
  | { readonly internals?: undefined; readonly reasons: readonly string[] }

/** Returns the hooks of a server, or the reasons why Yoga's handler must serve all requests. */
export function readInternals(yoga: object): Found {
  const read = (key: string): unknown => Reflect.get(yoga, key)
  const plugins = read('plugins') as readonly Plugin[]
  const fetchAPI = read('fetchAPI')
  const logger = read('logger')
  const maskedErrors = read('maskedErrorsOpts') ?? undefined
  const lists = [
    read('onRequestParseHooks'),
    read('onParamsHooks'),
    read('onExecutionResultHooks'),
    read('onResultProcessHooks'),
  ]
  if (
    !Array.isArray(plugins) ||
    !lists.every(isHookList) ||
    !isFetchAPI(fetchAPI) ||
    !isLogger(logger) ||
    !(maskedErrors === undefined || isMaskedErrors(maskedErrors))
  ) {
    return { reasons: ['the server was not created by a supported version of Yoga'] }
  }
  const reasons = plugins.flatMap(unhonoured)
  if (!isPonyfill(fetchAPI))
    reasons.push(
      "the Request or Headers class in Yoga's option fetchAPI is not Yoga's default class for Node",
    )
  if (reasons.length > 0) return { reasons: [...new Set(reasons)] }
  const [onRequestParse = [], onParams = [], onExecutionResult = [], onResultProcess = []] = lists
  return {
    reasons: [],
    internals: {
      fetchAPI,
      logger,
      maskedErrors,
      waitUntil: read('waitUntil'),
      plugins,
      own: yogasPlugins(plugins),
      onRequest: hooksNamed(plugins, 'onRequest'),
      onResponse: hooksNamed(plugins, 'onResponse'),
      onRequestParse,
      onParams,
      onExecutionResult,
      onResultProcess,
    },
  }
}

function unhonoured(plugin: Plugin): string[] {
  if (!plugin) return []
  const hooks = Object.keys(plugin).filter(
    (key) => /^on[A-Z]/.test(key) && typeof plugin[key] === 'function' && !HONOURED.has(key),
  )
  const instrumentation = Object.keys(Object(plugin['instrumentation']) as object)
    .filter((key) => DOOR_INSTRUMENTATION.has(key))
    .map((key) => `instrumentation.${key}`)
  return [...hooks, ...instrumentation].map((name) => `a plugin uses ${name}`)
}

function hooksNamed(plugins: readonly Plugin[], name: string): Hook[] {
  return plugins.flatMap((plugin) => {
    const hook = plugin ? plugin[name] : undefined
    return typeof hook === 'function' ? [hook as Hook] : []
  })
}

function isHookList(value: unknown): value is readonly Hook[] {
  return Array.isArray(value) && value.every((hook) => typeof hook === 'function')
}

function isFetchAPI(value: unknown): value is FetchAPI {
  const api = Object(value) as Record<string, unknown>
  return ['Request', 'Response', 'Headers', 'URL'].every((name) => typeof api[name] === 'function')
}

function isMaskedErrors(value: unknown): value is NonNullable<YogaInternals['maskedErrors']> {
  return typeof Object(value).maskError === 'function'
}

export function isLogger(value: unknown): value is Logger {
  const logger = Object(value) as Logger
  return typeof logger.debug === 'function' && typeof logger.error === 'function'
}

/**
 * Returns whether the classes are Yoga's classes for Node. Light requests extend them. Native classes refuse other
 * objects.
 */
function isPonyfill({ Request, Headers }: FetchAPI): boolean {
  return Request !== globalThis.Request && 'headersInit' in new Headers({})
}
