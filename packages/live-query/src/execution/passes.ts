import { after, CLIENT, type Clock, isAsyncIterable, type MaybePromise } from '@vinyasa/core'
import type { Behaviour } from '@vinyasa/core/pipeline'
import { GraphQLError, type ExecutionResult, type GraphQLFormattedError } from 'graphql'
import type { Plugin, YogaServer } from 'graphql-yoga'
import { createServerAdapter } from '@whatwg-node/server'
import { processStream, type StreamKind } from './stream-results.ts'
import { toGraphQLError } from '../errors.ts'
import type { LiveQueryRegistration } from '../store/subscriber.ts'

const CODES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  413: 'REQUEST_ENTITY_TOO_LARGE',
  429: 'RATE_LIMITED',
  503: 'SERVICE_UNAVAILABLE',
}

/** Longer strings are HTML pages, not messages. */
const MAX_MESSAGE = 500

/** Returns whether the response of a hook is a refusal. */
function isRefusal({ status }: Response): boolean {
  return status >= 300
}

/** Returns the error of a hook's response, as an HTTP client would read it. */
async function refusalOf(response: Response): Promise<Answer> {
  const text = await response.text()
  const given = readResult(text)
  if (given && 'data' in given && !isRefusal(response)) return { kind: 'result', result: given }
  if (given?.errors && given.errors.length > 0) return { kind: 'errors', errors: given.errors }
  const { status, statusText } = response
  const isMessage = text !== '' && text.length <= MAX_MESSAGE && !/^\s*[<{[]/.test(text)
  const message = isMessage
    ? text
    : `Expected a GraphQL result, but the server responded with HTTP status ${status} ${statusText}`.trim()
  const code = CODES[status] ?? (status >= 500 ? 'INTERNAL_SERVER_ERROR' : 'BAD_REQUEST')
  return { kind: 'errors', errors: [new GraphQLError(message, { extensions: { code } })] }
}

function readResult(text: string): ExecutionResult | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { errors, ...rest } = value as { readonly errors?: unknown }
  const read = Array.isArray(errors) ? errors.filter(isFormatted).map(toGraphQLError) : undefined
  return { ...rest, ...(read && { errors: read }) }
}

function isFormatted(value: unknown): value is GraphQLFormattedError {
  return typeof (value as { readonly message?: unknown } | null)?.message === 'string'
}

export type AnyResult = ExecutionResult | AsyncIterable<ExecutionResult>

export type LiveRegistration = Omit<LiveQueryRegistration, 'id' | 'channel'>

/** The outcome of an operation. `errors` means that the operation was not executed. */
export type Answer =
  | { readonly kind: 'errors'; readonly errors: readonly GraphQLError[] }
  | { readonly kind: 'result'; readonly result: AnyResult }
  | { readonly kind: 'live'; readonly registration: LiveRegistration }

/** The outcome for a client that has disconnected. */
export const NOBODYS: Answer = { kind: 'result', result: { data: null } }

export type Yoga = YogaServer<Record<string, unknown>, Record<string, unknown>>

/** The body of a request: `query`, `operationName`, `variables`, `extensions`, and parameters of plugins. */
export type OperationParams = Readonly<Record<string, unknown>>

/** A received operation, from which requests can be created repeatedly. */
export interface AskedOperation {
  /** The URL of the request. Hooks see the path of the GraphQL endpoint. */
  readonly url: string
  readonly headers: Headers
  /** The client whose share of the event loop and of backend calls is used. `undefined` means a separate share. */
  readonly client?: string | undefined
  readonly params: OperationParams
  /** Returns new values for Yoga's server context. */
  readonly context: () => Readonly<Record<string, unknown>>
}

/** One run of a live query. */
export interface RunOfPass {
  readonly first: boolean
  /** See `liveMomentOf`. */
  readonly moment: string
  /** Checks the run before the execution. The returned errors end the live query. */
  readonly check:
    | ((context: Record<string, unknown>) => Promise<readonly GraphQLError[] | undefined>)
    | undefined
  /** The errors with which the live query ends. */
  ended: readonly GraphQLError[] | undefined
}

/** One operation in the server. */
export interface Pass {
  readonly asked: AskedOperation
  /** `undefined` for the client's request, which registers a live operation instead of executing it. */
  readonly run: RunOfPass | undefined
  registration: LiveRegistration | undefined
  result: AnyResult | undefined
  response: Response | undefined
}

/** Returns the result that ends a live query, or `undefined` if the run can continue. */
export function checkRun(
  run: RunOfPass,
  context: Record<string, unknown>,
): MaybePromise<{ readonly errors: readonly GraphQLError[] } | undefined> {
  return after(run.check?.(context), (errors) => {
    if (!errors) return undefined
    run.ended = errors
    return { errors }
  })
}

export interface Passes {
  /**
   * Runs an operation through all hooks of an HTTP request: with its headers, a server context and a response. The
   * hooks can refuse it. The promise rejects with the error of a request hook.
   */
  send(asked: AskedOperation, signal: AbortSignal, run?: RunOfPass): Promise<Answer>
  /** Returns the pass of a context. Returns `undefined` for HTTP requests. */
  of(context: object | undefined): Pass | undefined
  /** Receives the results of passes. It must be the last of all plugins. */
  readonly last: Plugin
}

export interface PassesOptions {
  readonly yoga: () => Yoga
  /** All plugins of the server, including Yoga's own plugins. */
  readonly plugins: () => readonly Plugin[]
  /** Called when the schema of a request is final, after all earlier plugins. */
  readonly enveloped: (isRun: boolean) => void
  /** Returns whether a live query or a subscription answers a request with a stream. */
  readonly kindOf: (context: object) => StreamKind
  readonly eventNames: boolean
  readonly clock: Clock
}

export function createPasses(options: PassesOptions): Passes {
  const { yoga, plugins, enveloped, kindOf, eventNames, clock } = options
  const PASS = Symbol('vinyasa.live-query.pass')
  let opened: ReturnType<typeof openDoor> | undefined

  const of = (context: object | undefined): Pass | undefined =>
    (context as { readonly [PASS]?: Pass } | undefined)?.[PASS]

  const last: Plugin & { readonly behaviour: Behaviour } = {
    behaviour: {
      refused({ context }, errors) {
        const run = of(context)?.run
        if (run) run.ended = errors as readonly GraphQLError[]
      },
    },
    // The parser chosen by the hooks has already read the body of a run.
    onRequestParse({ serverContext, setRequestParser }) {
      const pass = of(serverContext)
      if (pass?.run) setRequestParser(() => pass.asked.params as never)
    },
    onEnveloped: ({ context }) => enveloped(of(context as object | undefined)?.run !== undefined),
    onValidate({ context }) {
      const run = of(context)?.run
      if (!run) return undefined
      return ({ valid, result }) => {
        if (!valid) run.ended = result as readonly GraphQLError[]
      }
    },
    onResultProcess(payload) {
      const pass = of(payload.serverContext)
      if (!pass) {
        const kind = isAsyncIterable(payload.result) ? kindOf(payload.serverContext) : undefined
        return processStream(payload, { kind, eventNames, clock })
      }
      payload.setResultProcessor((result, fetchAPI) => {
        pass.result = result as AnyResult
        pass.response = new fetchAPI.Response(null)
        return pass.response
      }, 'application/json')
    },
  }

  async function send(asked: AskedOperation, signal: AbortSignal, run?: RunOfPass): Promise<Answer> {
    opened ??= openDoor(yoga(), plugins())
    const pass: Pass = { asked, run, registration: undefined, result: undefined, response: undefined }
    const context = {
      ...asked.context(),
      ...(run && { liveQuery: { first: run.first, moment: run.moment } }),
      [PASS]: pass,
      [CLIENT]: asked.client ?? null,
    }
    const response = await opened.handleRequest(opened.requestOf(asked, signal), context)
    const { result, registration } = pass
    if (!result || (response !== pass.response && isRefusal(response))) return refusalOf(response)
    if (Symbol.asyncIterator in result) {
      return registration ? { kind: 'live', registration } : { kind: 'result', result }
    }
    // GraphQL distinguishes a refused operation from a failed operation by the missing `data`. The errors are checked
    // first, because reading `data` can parse the complete result.
    if (result.errors && result.data === undefined) return { kind: 'errors', errors: result.errors }
    return { kind: 'result', result }
  }

  return { send, of, last }
}

/**
 * Creates the function that handles requests like HTTP requests. The server from `onYogaInit` runs no request and
 * response hooks.
 */
function openDoor(yoga: Yoga, plugins: readonly Plugin[]) {
  const { fetchAPI, graphqlEndpoint } = yoga
  const adapter = createServerAdapter(
    { handle: yoga.handle as never },
    { plugins: [...plugins] as never, fetchAPI },
  )
  const isPattern = /[:*({]/.test(graphqlEndpoint)

  function requestOf({ url, headers, params }: AskedOperation, signal: AbortSignal): Request {
    // The protocol requires `query`. Over HTTP, it is omitted if an id identifies the document.
    const body = JSON.stringify(params['query'] === '' ? { ...params, query: undefined } : params)
    const target = endpointOf(url)
    const own = {
      ...Object.fromEntries(headers),
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      accept: 'application/json',
    }
    const create = (): Request => {
      const request = new fetchAPI.Request(target, {
        method: 'POST',
        // Each request has separate headers, because hooks can change them.
        headers: new fetchAPI.Headers(own),
        body,
        signal,
      })
      // Yoga counts the bytes of a body with an additional stream. This body is in memory, and the socket has checked
      // its size.
      return Object.defineProperties(request, { body: { value: null }, clone: { value: create } })
    }
    return create()
  }

  function endpointOf(url: string): string {
    if (isPattern) return url
    const target = new URL(url)
    target.pathname = graphqlEndpoint
    return target.href
  }

  return {
    requestOf,
    handleRequest: async (request: Request, context: object): Promise<Response> =>
      adapter.handleRequest(request, context as never),
  }
}
