import { IncomingMessage, type ServerResponse } from 'node:http'
import { handleErrorFromRequestHandler } from '@whatwg-node/server'
import { bodyTooLarge } from './errors.ts'
import { createGraphQLHandler } from './graphql-handler.ts'
import { createLightRequests } from './light-request.ts'
import { createLightResponses } from './light-response.ts'
import { attempt, type MaybePromise } from './maybe-promise.ts'
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
        (error) => handleErrorFromRequestHandler(error, fetchAPI.Response) as Response,
      )
      await sendResponse(response, outgoing, incoming)
    } catch (error) {
      logger.error(error)
    }
  }
}

/** A POST whose body Yoga parses as JSON, straight from node:http: nobody has read, parsed or rewritten it. */
export function isThinRequest(request: IncomingMessage): boolean {
  if (request.method !== 'POST' || !(request instanceof IncomingMessage)) return false
  const mediaType = request.headers['content-type']?.split(',', 1)[0] ?? ''
  if (!/^application\/(?:graphql\+)?json(?:;|$)/.test(mediaType)) return false
  return !('body' in request || 'query' in request || 'originalUrl' in request || 'raw' in request)
}

function limitTo(maxBodyBytes: number): CheckSize {
  return (bytes) => {
    if (bytes > maxBodyBytes) throw bodyTooLarge(maxBodyBytes)
  }
}
