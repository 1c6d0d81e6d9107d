import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FetchAPI } from 'graphql-yoga'
import { failedResponse, sendYogas } from './last-catch.ts'
import { isLogger } from './yoga-5.ts'

export type Door = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  ...context: unknown[]
) => Promise<void>

/**
 * Creates Yoga's handler with one difference: errors outside of an operation get a fixed text instead of the stack
 * trace.
 */
export function createYogasDoor(yoga: object): Door {
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
