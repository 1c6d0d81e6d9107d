import type { FetchAPI, Plugin } from 'graphql-yoga'

/**
 * Yoga's parser of JSON bodies, as it is handed to `setRequestParser`: what its own hooks choose. Undefined where there
 * is none.
 */
export function jsonParserOf(plugins: readonly Plugin[], fetchAPI: FetchAPI): unknown {
  const headers = { 'content-type': 'application/json' }
  let requestParser: unknown
  for (const { onRequestParse } of plugins) {
    void onRequestParse?.({
      request: new fetchAPI.Request('http://localhost/graphql', { method: 'POST', headers }),
      url: new fetchAPI.URL('http://localhost/graphql'),
      requestParser: requestParser as never,
      setRequestParser: (parser) => void (requestParser = parser),
      endResponse: () => {},
      serverContext: {} as never,
      fetchAPI,
    })
  }
  return requestParser
}
