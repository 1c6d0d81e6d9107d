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
 * Yoga's own door, with one difference: what fails outside of any operation is answered with a fixed text, where Yoga
 * sends the stack of the error.
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

/** Undefined for a server that is built differently: it is called as a listener then. */
function adapterOf(yoga: object) {
  const read = (key: string): unknown => Reflect.get(yoga, key)
  const fetchAPI = read('fetchAPI') as Partial<FetchAPI> | undefined
  const logger = read('logger')
  // Each reading binds it anew.
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
