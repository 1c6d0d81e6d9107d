import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyTooLarge } from '../errors.ts'
import { failedResponse } from '../yoga/last-catch.ts'
import { type CreateLightRequest, createLightRequests, type LightRequest } from '../http/light-request.ts'
import { type CreateLightResponse, createLightResponses } from '../http/light-response.ts'
import { after, attempt, isPromise, type MaybePromise } from '@vinyasa/base'
import { createExecuteParams } from './execute-params.ts'
import type { HookedRequest } from './hooked-request.ts'
import { createParseRequest } from './parse-request.ts'
import { stepHooks } from '../hooks/hook-step.ts'
import { OnRequest } from '../hooks/on-request.ts'
import { createProcessResult, type ProcessResult } from '../hooks/on-result-process.ts'
import { runResponseHooks } from '../hooks/on-response.ts'
import type { CheckSize } from '../http/read-body.ts'
import { sendResponse } from '../http/send-response.ts'
import type { HookRequest, ServerContext, YogaInternals } from '../yoga/yoga-5.ts'
import { type ParamsHandler, type Pipeline, toErrors } from '@vinyasa/pipeline'

/** The way of JSON requests through all hooks. */
export interface FastPath {
  listen(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>
  readonly createRequest: CreateLightRequest
  readonly createResponse: CreateLightResponse
  /** Has the hooks choose how a result is written. */
  readonly processResult: ProcessResult
  readonly handleParams: ParamsHandler
  /** The request before its first hook. */
  begin(request: LightRequest, context: ServerContext): HookedRequest
  /** Answers a request, whose steps may have begun. */
  serve(hooked: HookedRequest, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>
}

export function createFastPath(
  internals: YogaInternals,
  maxBodyBytes: number | undefined,
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
  const check = maxBodyBytes === undefined ? undefined : limitTo(maxBodyBytes)

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

  /** From a request to its response; whatever is thrown on the way becomes the errors of a result. */
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
      if (check) request.addSizeCheck(check)
      return serve(begin(request, { req: incoming, res: outgoing, waitUntil }), incoming, outgoing)
    },
  }
}

function limitTo(maxBodyBytes: number): CheckSize {
  return (bytes) => {
    if (bytes > maxBodyBytes) throw bodyTooLarge(maxBodyBytes)
  }
}
