import type { IncomingHttpHeaders } from 'node:http'
import type { FetchAPI } from 'graphql-yoga'

/** What Yoga's own class keeps: what it was made from, and a map of its own from the first change on. */
interface PonyfillHeaders extends Headers {
  readonly _map?: unknown
  readonly headersInit: IncomingHttpHeaders
  _get(name: string): string | null
}

/** Yoga's class of headers, quicker to say of a header that it is not there: node:http's names are in lower case. */
export function incomingHeaders({ Headers }: FetchAPI): new (headers: IncomingHttpHeaders) => Headers {
  const Base = Headers as unknown as new (headers: IncomingHttpHeaders) => PonyfillHeaders
  return class IncomingHeaders extends Base {
    override _get(name: string): string | null {
      if (this._map) return super._get(name)
      const value = this.headersInit[name.toLowerCase()]
      if (value === undefined) return null
      return typeof value === 'string' ? value : super._get(name)
    }
  }
}
