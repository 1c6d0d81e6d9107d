import type { IncomingMessage, ServerResponse } from 'node:http'
import { failedResponse, isResponse } from '../yoga/last-catch.ts'
import { type CreateLightRequest, createLightRequests, type LightRequest } from '../http/light-request.ts'
import { type CreateLightResponse, createLightResponses } from '../http/light-response.ts'
import { after, attempt, isPromise, type MaybePromise } from '@vinyasa/core'
import { stepHooks, HookStep } from '../hooks/hook-step.ts'
import { createProcessResult, type ProcessResult } from '../hooks/on-result-process.ts'
import { runResponseHooks } from '../hooks/on-response.ts'
import { sendResponse } from '../http/send-response.ts'
import type { HookRequest, ServerContext, YogaInternals, RequestHandler } from '../yoga/yoga-5.ts'
import { type ParamsHandler, type Pipeline, toErrors, type Hook, runHooks } from '@vinyasa/core/pipeline'
import { runExecutionResultHooks } from '../hooks/on-execution-result.ts'
import { OnParams } from '../hooks/on-params.ts'
import { findParserChoice, findSizeLimit, type RequestParser, type SizeLimit } from '../hooks/body-choices.ts'
import { OnRequestParse } from '../hooks/on-request-parse.ts'
import type { FetchAPI } from 'graphql-yoga'
import { lazyUrl } from '../http/request-url.ts'

/** The `onRequest` step of one request. */
class OnRequest extends HookStep {
  request: HookRequest
  /** Handles the request if no hook does. A hook can have wrapped it. */
  requestHandler: RequestHandler
  protected readonly payload: object
  readonly #given: Pick<OnRequest, 'request' | 'requestHandler'>

  constructor(
    request: HookRequest,
    serverContext: ServerContext,
    requestHandler: RequestHandler,
    fetchAPI: FetchAPI,
  ) {
    super()
    this.request = request
    this.requestHandler = requestHandler
    this.#given = { request, requestHandler }
    const payload = {
      request,
      setRequest: (given: HookRequest) => {
        payload.request = this.request = given
      },
      serverContext,
      fetchAPI,
      url: lazyUrl(fetchAPI, request),
      requestHandler,
      setRequestHandler: (given: RequestHandler) => {
        payload.requestHandler = this.requestHandler = given
      },
      endResponse: (given: Response | undefined) => {
        this.response = given
      },
    }
    this.payload = payload
  }

  protected get isUntouched(): boolean {
    const { request, requestHandler } = this.#given
    return !this.response && this.request === request && this.requestHandler === requestHandler
  }
}

/** A request on the path with all hooks, with the steps whose hooks have already started. */
export interface HookedRequest {
  readonly context: ServerContext
  readonly onRequest: OnRequest
  onRequestParse: OnRequestParse | undefined
  /** The step of a single operation. The operations of a batch have separate steps. */
  onParams: OnParams | undefined
}

/** The parameters to execute, a single object or a list, or the response with which a hook ended the request. */
type Parsed = { readonly response: Response } | { readonly response?: undefined; readonly params: unknown }

/** Runs `onRequestParse`, the parser that the hooks chose, and `onRequestParseDone`. */
function createParseRequest(internals: YogaInternals, runsAhead: (hook: Hook) => boolean) {
  const { fetchAPI } = internals
  const choice = findParserChoice(internals)
  const sizeLimit = findSizeLimit(internals)
  const hooks = internals.onRequestParse.map((hook) =>
    hook === sizeLimit?.hook ? limitLight(sizeLimit) : hook,
  )
  const asked = stepHooks(hooks, runsAhead)
  const chosen = stepHooks(
    hooks.filter((hook) => !choice?.hooks.has(hook)),
    runsAhead,
  )

  function read(request: HookRequest, parser: RequestParser): MaybePromise<unknown> {
    if (parser !== choice?.json || !isLight(request) || request.isMaterialised) return parser(request)
    // Yoga's parser reports the error in the body.
    return request.text().then((text) => parseObject(text) ?? parser(request))
  }

  return (
    hooked: HookedRequest,
    request: HookRequest,
    serverContext: ServerContext,
  ): MaybePromise<Parsed> => {
    const isChosen = choice !== undefined && (request.method === 'POST' || request.method === 'GET')
    const parser = isChosen ? choice.parserFor(request) : undefined
    const step = hooked.onRequestParse ?? new OnRequestParse(request, serverContext, parser, fetchAPI)
    hooked.onRequestParse = undefined
    return after(step.run(isChosen ? chosen : asked), () => {
      const { response, requestParser, doneHooks } = step
      if (response) return { response }
      if (!requestParser) {
        const init = { status: 415, statusText: 'Unsupported Media Type' }
        return { response: new fetchAPI.Response(null, init) }
      }
      return after(read(request, requestParser), (params) => done(params, doneHooks))
    })
  }
}

function done(params: unknown, doneHooks: readonly Hook[]): MaybePromise<Parsed> {
  if (isResponse(params)) return { response: params }
  if (doneHooks.length === 0) return { params }
  const payload = {
    requestParserResult: params,
    setRequestParserResult(result: unknown) {
      payload.requestParserResult = result
    },
  }
  return after(runHooks(doneHooks, payload), () => ({ params: payload.requestParserResult }))
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function limitLight(limit: SizeLimit): Hook {
  return (payload) =>
    limitWithoutStreams((payload as { request: HookRequest }).request, limit)
      ? undefined
      : limit.hook(payload)
}

/** Returns false if the body is already a stream. Yoga's hook then limits the body. */
function limitWithoutStreams(request: HookRequest, limit: SizeLimit): boolean {
  if (!isLight(request) || request.isMaterialised) return false
  const contentLength = request.headers.get('content-length')
  limit.checkHeader(contentLength)
  // A body with a Content-Length is not counted, because node:http ends the body at that length.
  if (contentLength === null) request.addSizeCheck(limit.check)
  return true
}

function isLight(request: HookRequest): request is LightRequest {
  return 'addSizeCheck' in request
}

/**
 * Runs `onParams`, the execution with Envelop's hooks, and `onExecutionResult`, separately for each item of a batch.
 */
function createExecuteParams(
  internals: YogaInternals,
  handleParams: ParamsHandler,
  runsAhead: (hook: Hook) => boolean,
) {
  const { fetchAPI, onExecutionResult } = internals
  const hooks = stepHooks(internals.onParams, runsAhead)

  function resultOf(step: OnParams, request: HookRequest, context: ServerContext): MaybePromise<unknown> {
    const executed = after(step.run(hooks), () => {
      const { result, params, paramsHandler } = step
      return result || paramsHandler({ request, params: params as never, context })
    })
    return after(executed, (result) => runExecutionResultHooks(onExecutionResult, result, request, context))
  }

  return (
    hooked: HookedRequest,
    params: unknown,
    request: HookRequest,
    context: ServerContext,
  ): MaybePromise<unknown> => {
    const stepOf = (given: unknown, ofOne: ServerContext): OnParams =>
      new OnParams(given, request, ofOne, handleParams, fetchAPI)
    if (!Array.isArray(params)) {
      const step = hooked.onParams ?? stepOf(params, context)
      hooked.onParams = undefined
      return resultOf(step, request, context)
    }
    return Promise.all(
      params.map((each: unknown) =>
        attempt(
          () => {
            const ofOne = Object.create(context) as ServerContext
            return resultOf(stepOf(each, ofOne), request, ofOne)
          },
          (error) => ({ errors: toErrors(error, internals) }),
        ),
      ),
    )
  }
}

/** The path of JSON requests with all hooks. */
export interface FastPath {
  listen(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>
  readonly createRequest: CreateLightRequest
  readonly createResponse: CreateLightResponse
  /** Runs the hooks that choose how a result is serialized. */
  readonly processResult: ProcessResult
  readonly handleParams: ParamsHandler
  /** Creates the state of a request before its first hook. */
  begin(request: LightRequest, context: ServerContext): HookedRequest
  /** Sends the response to a request. Some steps can have started already. */
  serve(hooked: HookedRequest, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>
}

export function createFastPath(
  internals: YogaInternals,
  { handleParams, server }: Pick<Pipeline, 'handleParams' | 'server'>,
): FastPath {
  const { fetchAPI, logger, waitUntil } = internals
  const runsAhead = server.others.has.bind(server.others)
  const onRequest = stepHooks(internals.onRequest, runsAhead)
  const createRequest = createLightRequests(fetchAPI)
  const createResponse = createLightResponses(fetchAPI)
  const parseRequest = createParseRequest(internals, runsAhead)
  const executeParams = createExecuteParams(internals, handleParams, runsAhead)
  const processResult = createProcessResult(internals, createResponse)

  const begin: FastPath['begin'] = (request, context) => {
    const hooked: HookedRequest = {
      context,
      onRequest: new OnRequest(
        request,
        context,
        (asked, serverContext) => handle(hooked, asked, serverContext),
        fetchAPI,
      ),
      onRequestParse: undefined,
      onParams: undefined,
    }
    return hooked
  }

  /** Converts a request to a response. Thrown errors become the errors of a result. */
  function handle(
    hooked: HookedRequest,
    request: HookRequest,
    serverContext: ServerContext,
  ): MaybePromise<Response> {
    return attempt(
      () =>
        after(parseRequest(hooked, request, serverContext), (parsed) => {
          if (parsed.response) return parsed.response
          const executed = executeParams(hooked, parsed.params, request, serverContext)
          return after(executed, (result) => processResult(result, request, serverContext))
        }),
      (error) => processResult({ errors: toErrors(error, internals) }, request, serverContext),
    )
  }

  /** Runs `onRequest`, the handler, and `onResponse`. */
  function respond({ onRequest: step, context }: HookedRequest): MaybePromise<Response> {
    return after(step.run(onRequest), () => {
      const { request, response, requestHandler } = step
      const answer = response ?? requestHandler(request, context)
      return after(answer, (given) =>
        runResponseHooks(internals.onResponse, given, request, context, fetchAPI),
      )
    })
  }

  const serve: FastPath['serve'] = async (hooked, incoming, outgoing) => {
    try {
      const response = await attempt(
        () => respond(hooked),
        (error) => failedResponse(error, outgoing, internals),
      )
      const sent = sendResponse(response, outgoing, incoming)
      if (isPromise(sent)) await sent
    } catch (error) {
      logger.error(error)
    }
  }

  return {
    createRequest,
    createResponse,
    processResult,
    handleParams,
    begin,
    serve,
    listen(incoming, outgoing) {
      const request = createRequest(incoming, outgoing)
      return serve(begin(request, { req: incoming, res: outgoing, waitUntil }), incoming, outgoing)
    },
  }
}
