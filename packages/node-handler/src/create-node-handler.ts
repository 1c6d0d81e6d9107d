import { IncomingMessage, type ServerResponse } from 'node:http'
import { keyedByHeader } from '@vinyasa/core'
import { type EndpointAlias, Pipeline, pipelineOf } from '@vinyasa/core/pipeline'
import type { FetchAPI } from 'graphql-yoga'
import { Cycle } from './cycle/cycle.ts'
import { Exchange } from './cycle/exchange.ts'
import { failedResponse, isLogger, readInternals, refuseTarget, sendYogas } from './yoga/yoga-5.ts'
import { guardBody, hasBody } from './http/body.ts'
import { acceptTargets } from './http/request-target.ts'

/**
 * Returns a function that finds the requests for our request cycle: a `POST` to the endpoint or to an alias of it whose
 * body Yoga parses as JSON, and a `GET` with parameters in the target. The request must come directly from node:http. A
 * framework must not have read, parsed or rewritten it.
 */
function cycleRequests(
  yoga: object,
  aliases: readonly EndpointAlias[],
): (request: IncomingMessage) => boolean {
  const given: unknown = Reflect.get(yoga, 'graphqlEndpoint')
  const endpoint = typeof given === 'string' && !PATTERN.test(given) ? given : undefined
  const paths = [endpoint ?? [], aliases.map((alias) => alias.paths().path)].flat()
  const targets = `${endpoint}?`
  const isJson = keyedByHeader((contentType) =>
    /^application\/(?:graphql\+)?json(?:;|$)/.test(contentType.split(',', 1)[0] ?? ''),
  )

  function isOurs({ method, url = '', headers }: IncomingMessage): boolean {
    if (endpoint === undefined) return false
    if (method === 'POST')
      return isJson(headers['content-type'] ?? '') === true && paths.some((path) => isAt(path, url))
    // Yoga sends GraphiQL to browsers.
    const isPage = headers.accept?.includes('text/html') === true
    return method === 'GET' && url.startsWith(targets) && !hasBody(headers) && !isPage
  }

  return (request) => {
    if (!(request instanceof IncomingMessage) || !isOurs(request)) return false
    return !('body' in request || 'query' in request || 'originalUrl' in request || 'raw' in request)
  }
}

/** Characters with a meaning in the endpoint, which is a URL pattern. */
const PATTERN = /[:*({?+\\]/

function isAt(path: string, target: string): boolean {
  return target.startsWith(path) && (target.length === path.length || target[path.length] === '?')
}

/** Returns the reasons why no operation of a server can be executed from the cache of documents. */
function reasonsAgainstCache({ known, server }: Pipeline): readonly string[] {
  if (!known) return ['the plugins do not include usePipeline()']
  return server.instrumented.map((step) => `a plugin uses instrumentation.${step}`)
}

/** Type of a Yoga server as a listener for `http.createServer`. */
type NodeRequestListener = (
  request: IncomingMessage,
  response: ServerResponse,
  ...context: never[]
) => unknown

export interface NodeHandler {
  /** Handles a request of `http.createServer`. Objects after the response become part of the context, as with Yoga. */
  (request: IncomingMessage, response: ServerResponse, ...context: unknown[]): Promise<void>
  /** Reasons why Yoga's handler serves all requests of this server. Empty if ours serves GET and JSON requests. */
  readonly slowPathReasons: readonly string[]
  /** Reasons why every operation is parsed and validated. Empty if cached documents are executed directly. */
  readonly uncachedReasons: readonly string[]
}

/**
 * Creates a listener that serves GET and JSON requests of a Yoga server faster than Yoga's handler. Responses have
 * the same bytes. Yoga serves all other requests. An invalid `Host` or target gets 400, and a target with a `.` or
 * `..` segment gets 404. These requests never reach Yoga or its hooks. The path of a request depends only on its
 * target.
 */
export function createNodeHandler(yoga: NodeRequestListener): NodeHandler {
  const { internals, reasons } = readInternals(yoga)
  const pipeline = internals && (pipelineOf(internals.plugins) ?? new Pipeline(yoga, undefined))
  const cycle = pipeline && new Cycle(internals, pipeline)
  const isCycleRequest = cycleRequests(
    yoga,
    pipeline?.server.behaviours.flatMap(({ alias }) => alias ?? []) ?? [],
  )
  const yogasDoor = createYogasDoor(yoga)
  const acceptTarget = acceptTargets()

  // The function is not async, because an async function would wrap the promise of the cycle in another promise.
  function listen(request: IncomingMessage, response: ServerResponse, ...context: unknown[]): Promise<void> {
    const refusal = acceptTarget(request)
    if (refusal) {
      refuseTarget(response, refusal)
      return Promise.resolve()
    }
    const type = request.headers?.['content-type']
    // Yoga compares media types as strings. Media types are case-insensitive, and spaces can precede ";" (RFC 9110,
    // section 8.3.1).
    if (type && type !== 'application/json')
      request.headers['content-type'] = type.replace(/^[^;,]+/, (name) => name.trim().toLowerCase())
    guardBody(request, response)
    if (cycle && isCycleRequest(request) && !context.some(isObject))
      return Promise.resolve(new Exchange(cycle, request, response).serve())
    return yogasDoor(request, response, ...context)
  }
  return Object.assign(listen, {
    slowPathReasons: reasons,
    uncachedReasons: pipeline ? reasonsAgainstCache(pipeline) : reasons,
  })
}

function isObject(value: unknown): boolean {
  return value !== null && typeof value === 'object'
}

type Door = (incoming: IncomingMessage, outgoing: ServerResponse, ...context: unknown[]) => Promise<void>

/**
 * Creates Yoga's handler with one difference: errors outside of an operation get a fixed text instead of the stack
 * trace.
 */
function createYogasDoor(yoga: object): Door {
  const adapter = adapterOf(yoga)
  if (!adapter) {
    const listen = yoga as (...args: unknown[]) => unknown
    return async (...args) => void (await listen(...args))
  }
  const { fetchAPI, logger, waitUntil, handleNodeRequestAndResponse } = adapter

  return async function listen(incoming, outgoing, ...context) {
    try {
      let response: unknown
      try {
        const own = { req: incoming, res: outgoing, waitUntil }
        response = await handleNodeRequestAndResponse(incoming, outgoing, own, ...context)
      } catch (error) {
        response = failedResponse(error, outgoing, adapter)
      }
      await sendYogas(response, incoming, outgoing, fetchAPI)
    } catch (error) {
      logger.error(error)
      outgoing.destroy()
    }
  }
}

/** Returns `undefined` for a server with different internals, which is then called as a listener. */
function adapterOf(yoga: object) {
  const read = (key: string): unknown => Reflect.get(yoga, key)
  const fetchAPI = read('fetchAPI') as Partial<FetchAPI> | undefined
  const logger = read('logger')
  // Each read of the property binds the method again.
  const handleNodeRequestAndResponse = read('handleNodeRequestAndResponse')
  if (typeof handleNodeRequestAndResponse !== 'function' || typeof fetchAPI?.Response !== 'function')
    return undefined
  if (!isLogger(logger)) return undefined
  return {
    fetchAPI: fetchAPI as FetchAPI,
    logger,
    waitUntil: read('waitUntil'),
    handleNodeRequestAndResponse: handleNodeRequestAndResponse as (...given: unknown[]) => unknown,
  }
}
