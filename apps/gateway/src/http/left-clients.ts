import type { ServerResponse } from 'node:http'
import type { Plugin } from 'graphql-yoga'
import { withBehaviour } from '../behaviour.ts'

/** Whether the client of a request has gone, so that nobody will get the answer. */
export function hasLeft(serverContext: unknown): boolean {
  const { res } = Object(serverContext) as { readonly res?: ServerResponse }
  return res !== undefined && (res.destroyed || res.closed) && !res.writableFinished
}

/** Requests whose clients have gone before they could be executed are not executed. */
export function useLeftClients(): Plugin {
  return withBehaviour({
    onParams({ context, setResult }) {
      if (hasLeft(context)) setResult({ data: null })
    },
  })
}
