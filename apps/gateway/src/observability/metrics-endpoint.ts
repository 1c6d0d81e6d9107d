import { createHash, timingSafeEqual } from 'node:crypto'
import type { Plugin } from 'graphql-yoga'
import type { Metrics } from './metrics.ts'
import { withShortWay } from '../short-way.ts'

export interface MetricsEndpointOptions {
  readonly metrics: Metrics
  readonly path: string
  /** Asked for as `Authorization: Bearer <token>`. */
  readonly token: string | undefined
}

/** Serves the metrics to scrapers. */
export function useMetricsEndpoint({ metrics, path, token }: MetricsEndpointOptions): Plugin {
  const expected = token === undefined ? undefined : digest(`Bearer ${token}`)
  return withShortWay({
    async onRequest({ request, url, fetchAPI, endResponse }) {
      if (url.pathname !== path) return
      const sent = request.headers.get('authorization') ?? ''
      if (expected && !timingSafeEqual(digest(sent), expected)) {
        endResponse(new fetchAPI.Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } }))
        return
      }
      const text = await metrics.render()
      endResponse(new fetchAPI.Response(text, { headers: { 'content-type': metrics.contentType } }))
    },
  })
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
