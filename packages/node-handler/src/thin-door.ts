import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyTooLarge } from './errors.ts'
import { createGraphQLHandler } from './graphql-handler.ts'
import { failedResponse } from './last-catch.ts'
import { createLightRequests } from './light-request.ts'
import { createLightResponses } from './light-response.ts'
import { attempt, isPromiseLike, type MaybePromise } from './maybe-promise.ts'
import { createParamsHandler } from './params-handler.ts'
import { createParamsPhase } from './params-phase.ts'
import { createParsePhase } from './parse-phase.ts'
import type { CheckSize } from './read-body.ts'
import { createRequestPhase } from './request-phase.ts'
import { createResultPhase } from './result-phase.ts'
import { sendResponse } from './send-response.ts'
import type { YogaInternals } from './yoga-internals.ts'

export type ThinDoor = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>

export function createThinDoor(internals: YogaInternals, maxBodyBytes: number | undefined): ThinDoor {
  const { fetchAPI, logger, waitUntil } = internals
  const createRequest = createLightRequests(fetchAPI)
  const phases = {
    parse: createParsePhase(internals),
    execute: createParamsPhase(internals, createParamsHandler(internals)),
    process: createResultPhase(internals, createLightResponses(fetchAPI)),
  }
  const serve = createRequestPhase(internals, createGraphQLHandler(phases, internals))
  const check = maxBodyBytes === undefined ? undefined : limitTo(maxBodyBytes)

  function answer(incoming: IncomingMessage, outgoing: ServerResponse): MaybePromise<Response> {
    const request = createRequest(incoming, outgoing)
    if (check) request.addSizeCheck(check)
    return serve(request, { req: incoming, res: outgoing, waitUntil })
  }

  return async function listen(incoming, outgoing) {
    try {
      const response = await attempt(
        () => answer(incoming, outgoing),
        (error) => failedResponse(error, outgoing, internals),
      )
      const sent = sendResponse(response, outgoing, incoming)
      if (isPromiseLike(sent)) await sent
    } catch (error) {
      logger.error(error)
    }
  }
}

function limitTo(maxBodyBytes: number): CheckSize {
  return (bytes) => {
    if (bytes > maxBodyBytes) throw bodyTooLarge(maxBodyBytes)
  }
}
