import { withBehaviour } from '@vinyasa/core/pipeline'
import type { ServerResponse } from 'node:http'
import type { Plugin } from 'graphql-yoga'

/** Whether the client of a request has gone, so that nobody will get the answer. */
export function hasLeft(serverContext: unknown): boolean {
  const { res } = Object(serverContext) as { readonly res?: ServerResponse }
  return res !== undefined && (res.destroyed || res.closed) && !res.writableFinished
}

/** Ends requests whose clients have disconnected before the execution. */
export function useLeftClients(): Plugin {
  return withBehaviour(
    {},
    {
      admit(_params, _request, context) {
        if (hasLeft(context)) throw new DOMException('The client left', 'AbortError')
      },
    },
  )
}
