import type { Plugin } from 'graphql-yoga'
import { METRICS_PATH } from '../../http/paths.ts'
import type { Metrics } from './metrics.ts'
import { withBehaviour } from '../../behaviour.ts'
import { isSecret } from '../../texts/is-secret.ts'

type RequestPayload = Parameters<NonNullable<Plugin['onRequest']>>[0]

/** Serves the metrics. If a token is set, scrapers must send it as `Authorization: Bearer <token>`. */
export function useMetricsEndpoint(metrics: Metrics, token: string | undefined): Plugin {
  async function answer({ request, fetchAPI, endResponse }: RequestPayload): Promise<void> {
    const sent = request.headers.get('authorization') ?? ''
    if (token !== undefined && !isSecret(sent, `Bearer ${token}`)) {
      endResponse(new fetchAPI.Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } }))
      return
    }
    const text = await metrics.render()
    endResponse(new fetchAPI.Response(text, { headers: { 'content-type': metrics.contentType } }))
  }

  return withBehaviour({
    // Only requests for metrics wait for a promise.
    onRequest: (payload) => (payload.url.pathname === METRICS_PATH ? answer(payload) : undefined),
  })
}
