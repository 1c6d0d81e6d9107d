import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { FetchAPI } from 'graphql-yoga'
import { type MaybePromise, yogasPlugins, type YogasPlugins } from '@vinyasa/core'
import type { Hook, Logger, Pipeline } from '@vinyasa/core/pipeline'
import { sendNodeResponse } from '@whatwg-node/server'

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

/**
 * Creates the response to a request that failed outside of an operation, e.g. in a hook: an HTTP status and its name.
 * The error is logged. It has the level debug if the client has disconnected, because a disconnect causes many errors.
 */
export function failedResponse(
  error: unknown,
  outgoing: ServerResponse,
  { fetchAPI, logger }: { readonly fetchAPI: FetchAPI; readonly logger: Logger },
): Response {
  if (outgoing.destroyed || outgoing.closed) logger.debug(error)
  else logger.error(error)
  const { status: asked } = Object(error) as { readonly status?: unknown }
  const status = typeof asked === 'number' && asked >= 400 && asked in STATUS_CODES ? asked : 500
  return new fetchAPI.Response(`${STATUS_CODES[status]}\n`, {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
  })
}

/**
 * Returns whether a value is a response. JSON of a client can have the same properties as a response, but not
 * functions.
 */
export function isResponse(value: unknown): value is Response {
  const { status, headers } = Object(value) as Partial<Response>
  return Boolean(status) && typeof headers?.get === 'function'
}

/** Refuses a request before the server handles it. */
export function refuseTarget(response: ServerResponse, status: 400 | 404): void {
  const text =
    status === 404
      ? 'The request path contains a "." or ".." segment. Send the resolved path.\n'
      : 'The request target or the Host header is invalid. Send a path and one Host header.\n'
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(text)
}

/**
 * Sends the response of Yoga's handler. A value from a client's body can be mistaken for a response and gets status
 * 400.
 */
export function sendYogas(
  given: unknown,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { Response }: FetchAPI,
): unknown {
  const response =
    given === undefined || given === null || isResponse(given)
      ? given
      : new Response('Bad Request\n', { status: 400, headers: { 'content-type': 'text/plain' } })
  return sendNodeResponse(response as Response, outgoing, incoming, true)
}
