import { RestConfigError } from '../errors.ts'
import type { Home } from '../http/transport.ts'

/** Throws `RestConfigError` for what is no plain address of a server. */
export function parseBaseUrl(baseUrl: string): Home {
  if (!URL.canParse(baseUrl)) throw new RestConfigError(`baseUrl "${baseUrl}" is not an absolute URL`)
  const url = new URL(baseUrl)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new RestConfigError(`baseUrl must be http or https, got "${url.protocol}"`)
  if (url.username || url.password)
    throw new RestConfigError('baseUrl contains credentials; send them with an interceptor or defaultHeaders')
  if (url.search || url.hash) throw new RestConfigError('baseUrl must not have a query or a fragment')
  return { base: url, basePath: url.pathname.replace(/(?<!\/)\/+$/, '') }
}
