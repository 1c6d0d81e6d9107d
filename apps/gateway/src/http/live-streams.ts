import { backgroundClock, clientOf, heldBytes, processLedger } from '@vinyasa/core'
import type { LiveQueryPlugin } from '@vinyasa/live-query'
import type { ServerResponse } from 'node:http'
import { withBehaviour } from '@vinyasa/core/pipeline'
import type { Plugin } from 'graphql-yoga'

/** Time for a response to get its headers onto the wire: a stream that was cut is asked for again, no answer is a failure. */
const TO_BEGIN_MS = 100

/** Memory of a stream and its request, without the parameters of the operation. */
const STREAM_BYTES = 32 * 1024

export interface LiveStreams {
  readonly plugin: Plugin
  /**
   * Cuts every live query and subscription, after `graceMs` those that are open by now, and those that begin from now on: they
   * would go on for ever. Without their last event or delimiter clients connect again, as after any lost connection.
   */
  close(graceMs?: number): void
}

/** The streams of results that one gateway is sending. */
export function createLiveStreams({ isEndless }: Pick<LiveQueryPlugin, 'isEndless'>): LiveStreams {
  const open = new Set<ServerResponse>()
  let closed = false

  return {
    plugin: withBehaviour(
      {},
      {
        respond({ context }, response) {
          const contentType = response.headers.get('content-type')
          if (contentType?.startsWith('application/')) return
          const { res, params } = context as { readonly res?: ServerResponse; readonly params?: unknown }
          // Event streams of no operation are endless too: those of the status page, and of other plugins.
          const isOther = !params && contentType?.startsWith('text/event-stream')
          // A client that has left closes it no more.
          if (!res || res.closed || !(isOther || isEndless(context))) return
          // nginx would keep back what comes until it has some kilobytes.
          if (!res.headersSent) res.setHeader('X-Accel-Buffering', 'no')
          open.add(res)
          // The request stays in memory as long as the stream.
          const bytes = STREAM_BYTES + heldBytes(params)
          const memory = processLedger().hold(clientOf(context), bytes, () => res.destroy())
          res.once('close', () => {
            memory.release()
            open.delete(res)
          })
          if (closed) cut(res)
        },
      },
    ),
    close(graceMs = 0) {
      closed = true
      for (const response of open) {
        if (graceMs > 0) backgroundClock.setTimeout(() => response.destroy(), graceMs)
        else cut(response)
      }
    },
  }
}

function cut(response: ServerResponse): void {
  if (response.headersSent) response.destroy()
  else backgroundClock.setTimeout(() => response.destroy(), TO_BEGIN_MS)
}
