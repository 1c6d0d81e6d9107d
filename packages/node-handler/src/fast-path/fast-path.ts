import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyTooLarge } from '../errors.ts'
import { failedResponse } from '../yoga/last-catch.ts'
import { type CreateLightRequest, createLightRequests, type LightRequest } from '../http/light-request.ts'
import { type CreateLightResponse, createLightResponses } from '../http/light-response.ts'
import { after, attempt, isPromise } from '@vinyasa/base'
import { createParamsPhase, type ParamsPhase } from './params-phase.ts'
import { createParsePhase, type ParsePhase } from './parse-phase.ts'
import type { CheckSize } from '../http/read-body.ts'
import { createRequestPhase } from './request-phase.ts'
import { createResultPhase, type ResultPhase } from './result-phase.ts'
import { sendResponse } from '../http/send-response.ts'
import type { RequestHandler, ServerContext, YogaInternals } from '../yoga/yoga-5.ts'
import { type Pipeline, type ParamsHandler, toErrors } from '@vinyasa/pipeline'

/** The way of JSON requests through all hooks. */
export interface FastPath {
  listen(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>
  readonly createRequest: CreateLightRequest
  readonly createResponse: CreateLightResponse
  /** Of an operation, and of a request: what hooks may put something around. */
  readonly handleParams: ParamsHandler
  readonly requestHandler: RequestHandler
  /** Has the hooks choose how a result is written. */
  readonly processResult: ResultPhase
  /** Goes on with a request, and a context, that were made already. */
  goOn(
    request: LightRequest,
    context: ServerContext,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void>
}

export function createFastPath(
  internals: YogaInternals,
  maxBodyBytes: number | undefined,
  { handleParams }: Pick<Pipeline, 'handleParams'>,
): FastPath {
  const { fetchAPI, logger, waitUntil } = internals
  const createRequest = createLightRequests(fetchAPI)
  const createResponse = createLightResponses(fetchAPI)
  const processResult = createResultPhase(internals, createResponse)
  const phases = {
    parse: createParsePhase(internals),
    execute: createParamsPhase(internals, handleParams),
    process: processResult,
  }
  const requestHandler = createGraphQLHandler(phases, internals)
  const serve = createRequestPhase(internals, requestHandler)
  const check = maxBodyBytes === undefined ? undefined : limitTo(maxBodyBytes)

  const goOn: FastPath['goOn'] = async (request, context, incoming, outgoing) => {
    try {
      const response = await attempt(
        () => serve(request, context),
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
    handleParams,
    requestHandler,
    processResult,
    goOn,
    listen(incoming, outgoing) {
      const request = createRequest(incoming, outgoing)
      if (check) request.addSizeCheck(check)
      return goOn(request, { req: incoming, res: outgoing, waitUntil }, incoming, outgoing)
    },
  }
}

function limitTo(maxBodyBytes: number): CheckSize {
  return (bytes) => {
    if (bytes > maxBodyBytes) throw bodyTooLarge(maxBodyBytes)
  }
}

interface Phases {
  readonly parse: ParsePhase
  readonly execute: ParamsPhase
  readonly process: ResultPhase
}

/** From a request to its response; whatever is thrown on the way becomes the errors of a result. */
function createGraphQLHandler(
  { parse, execute, process }: Phases,
  internals: Pick<YogaInternals, 'maskedErrors' | 'logger'>,
): RequestHandler {
  return (request, serverContext) =>
    attempt(
      () =>
        after(parse(request, serverContext), (parsed) => {
          if (parsed.response) return parsed.response
          const executed = execute(parsed.params, request, serverContext)
          return after(executed, (result) => process(result, request, serverContext))
        }),
      (error) => process({ errors: toErrors(error, internals) }, request, serverContext),
    )
}
