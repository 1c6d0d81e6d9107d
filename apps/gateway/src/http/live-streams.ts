import type { ServerResponse } from 'node:http'
import type { Plugin } from 'graphql-yoga'

export interface LiveStreams {
  readonly plugin: Plugin
  /**
   * Cuts every event stream, and from now on those that begin: they would go on for ever. Without an
   * `event: complete` their clients connect again, as after any lost connection.
   */
  close(): void
}

/** The event streams that one gateway is sending. */
export function createLiveStreams(): LiveStreams {
  const open = new Set<ServerResponse>()
  let closed = false

  return {
    plugin: {
      onResponse({ response, serverContext }) {
        const { res } = serverContext as { readonly res?: ServerResponse }
        if (!res || response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return
        if (closed) {
          res.destroy()
          return
        }
        open.add(res)
        res.once('close', () => open.delete(res))
      },
    },
    close() {
      closed = true
      for (const response of open) response.destroy()
    },
  }
}
