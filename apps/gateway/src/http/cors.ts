import type { CORSOptions, Plugin } from 'graphql-yoga'
import type { ShortResponse } from '@vinyasa/node-handler'
import { withShortWay } from '../short-way.ts'

type CorsSetting = false | readonly string[]

/** Headers that a page of another origin may read. */
const EXPOSED = ['x-request-id', 'x-cache', 'age']

/**
 * Yoga's CORS for the listed origins, and none at all for every other. Given the list itself Yoga would answer the
 * others with its only entry, or with `null`, which is the origin of a sandboxed frame.
 */
export function corsFor(origins: CorsSetting): false | ((request: Request) => CORSOptions) {
  if (origins === false) return false
  const listed = new Set(origins)
  return (request) => {
    const origin = request.headers.get('origin')
    if (origin === null) return false
    if (listed.has(origin)) return { origin, credentials: true, exposedHeaders: EXPOSED }
    return listed.has('*') ? { origin: '*', credentials: false, exposedHeaders: EXPOSED } : false
  }
}

/** Says that answers differ by origin, so that a cache in front does not hand one origin's answer to another. */
export function useVaryOrigin(origins: CorsSetting): Plugin {
  if (origins === false) return {}
  const onResponse = ({ response }: { readonly response: Pick<ShortResponse, 'headers'> }): void => {
    const vary = response.headers.get('vary')
    if (vary === null) response.headers.set('vary', 'Origin')
    else if (!/\borigin\b/i.test(vary)) response.headers.set('vary', `${vary}, Origin`)
  }
  return withShortWay({ onResponse }, { respond: (_call, response) => onResponse({ response }) })
}
