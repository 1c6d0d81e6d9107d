import { type FetchAPI, processRegularResult } from 'graphql-yoga'
import type { MultipartDelivery } from './accept.ts'
import { contentTypeOf, openingOf, partText } from './multipart.ts'

/**
 * Writes a whole answer as the only part, for a client that accepts no JSON: as Yoga and Apollo's router do it. Its status and
 * its headers are those of the answer.
 */
export function onlyPart(
  delivery: MultipartDelivery,
  boundary: string,
): (result: Parameters<typeof processRegularResult>[0], fetchAPI: FetchAPI) => Promise<Response> {
  return async (result, fetchAPI) => {
    const whole = await processRegularResult(result, fetchAPI, 'application/graphql-response+json')
    const json = (await whole.text()).replace(/}$/, ',"hasNext":false}')
    // Names in one case: Yoga's class of headers keeps those that it is given, and a name in two cases would be sent twice.
    const headers: Record<string, string> = {}
    whole.headers.forEach((value, name) => (headers[name.toLowerCase()] = value))
    delete headers['content-length']
    headers['content-type'] = contentTypeOf(delivery, boundary)
    headers['vary'] = headers['vary'] === undefined ? 'Accept' : `${headers['vary']}, Accept`
    const body = `${openingOf(boundary)}${partText(json, boundary, false)}`
    return new fetchAPI.Response(body, { status: whole.status, headers })
  }
}
