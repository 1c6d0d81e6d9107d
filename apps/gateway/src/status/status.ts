import type { IncomingMessage } from 'node:http'
import { useLiveQuery } from '@vinyasa/live-query'
import { refuseUpgrade } from '@vinyasa/live-query/ws'
import { createYoga, type Plugin } from 'graphql-yoga'
import { createLiveSockets, type LiveSockets } from '../http/live-sockets.ts'
import { pathnameOf } from '../http/pathname.ts'
import { createDocumentRoom } from '@vinyasa/pipeline'
import { documentCache } from '../limits/document-cache.ts'
import { useDocumentLimits } from '../limits/plugin.ts'
import type { Logger } from '../logging/logger.ts'
import { httpSettings } from '../presets.ts'
import { readStatusPage } from './page.ts'
import { createStatusSchema, type StatusReadings } from './schema.ts'

export interface StatusOptions {
  readonly readings: StatusReadings
  readonly logger: Logger
}

/** The status page and the live query that feeds it. */
export interface Status {
  /** Serves the page. */
  readonly plugin: Plugin
  /** The WebSocket of the page; its path is {@link Status.serves | served} here. */
  readonly sockets: LiveSockets
  serves(request: IncomingMessage): boolean
  close(): Promise<void>
}

const PAGE = '/status'
const LIVE = '/status/live'
/** Backends are asked, and figures compared, this often while somebody looks. */
const INTERVAL_MS = 1000
/** The page's own query is far below. */
const { limits: LIMITS } = httpSettings({ preset: 'production' })

/**
 * A GraphQL server of its own inside the gateway: its schema is not part of the one that clients see, and whoever
 * looks at the page does not count among the live subscribers that it shows.
 */
export function createStatus({ readings, logger }: StatusOptions): Status {
  const { html, headers } = readStatusPage()
  let server: StatusServer | undefined
  let closed = false

  return {
    sockets: {
      handleUpgrade(request, socket, head) {
        if (closed) return refuseUpgrade(socket, 503)
        server ??= openServer({ readings, logger })
        server.sockets.handleUpgrade(request, socket, head)
      },
      async close() {
        closed = true
        await server?.sockets.close()
      },
    },
    serves: (request) => pathnameOf(request) === LIVE,
    plugin: {
      onRequest({ request, url, fetchAPI, endResponse }) {
        if (url.pathname !== PAGE) return
        endResponse(
          request.method === 'GET' || request.method === 'HEAD'
            ? new fetchAPI.Response(html, { headers })
            : new fetchAPI.Response(null, { status: 405, headers: { allow: 'GET, HEAD' } }),
        )
      },
    },
    async close() {
      closed = true
      await server?.close()
    },
  }
}

interface StatusServer {
  readonly sockets: LiveSockets
  close(): Promise<void>
}

/** Made when a page asks first: most gateways are looked at by nobody. */
function openServer({ readings, logger }: StatusOptions): StatusServer {
  const live = useLiveQuery({
    fields: { status: { strategy: 'HASH_DIFF', pollIntervalMs: INTERVAL_MS } },
    onError: (error) => logger.error(error, 'status page'),
  })
  const yoga = createYoga({
    schema: createStatusSchema(readings),
    logging: false,
    parserAndValidationCache: documentCache(createDocumentRoom()),
    plugins: [useDocumentLimits(LIMITS), live],
  })
  yoga.getEnveloped({})
  // Its own pages only: another site's learns nothing of this gateway.
  const sockets = createLiveSockets({ plugin: live, paths: [LIVE], logger })
  return {
    sockets,
    async close() {
      await sockets.close()
      await yoga.dispose()
    },
  }
}
