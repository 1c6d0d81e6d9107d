import { withBehaviour } from '@vinyasa/core/pipeline'
import { systemClock } from '@vinyasa/core'
import type { Plugin } from 'graphql-yoga'
import { pathnameOf } from './pathname.ts'
import type { GatewayPaths } from './paths.ts'

/**
 * Asks once for all that ask at the same time, and not again within some milliseconds: who asks in a loop must not make
 * backends answer in one.
 */
export function rememberBriefly<Answer>(
  ask: () => Promise<Answer>,
  forMs: number,
  now: () => number = systemClock.now,
): () => Promise<Answer> {
  let answer: Promise<Answer> | undefined
  let forgetAt = Number.POSITIVE_INFINITY
  return () => {
    if (answer && now() < forgetAt) return answer
    forgetAt = Number.POSITIVE_INFINITY
    answer = ask().finally(() => {
      forgetAt = now() + forMs
    })
    return answer
  }
}

/**
 * Answers probes at two paths, with a query or without, by a status and no more than that to strangers: 200 where the
 * process lives; 200 where requests may be sent here, else 503. Refuses HTTP requests at the path of sockets.
 */
export function useProbes(
  { graphqlLive, live, ready }: GatewayPaths,
  isReady: () => Promise<boolean>,
): Plugin {
  return withBehaviour({
    onRequest({ request, endResponse, fetchAPI }) {
      const path = pathnameOf(request.url)
      const answer = (isWell: boolean): void =>
        endResponse(new fetchAPI.Response(null, { status: isWell ? 200 : 503 }))
      if (path === graphqlLive) {
        const text = 'This path is for WebSockets. Connect with the protocol graphql-transport-ws.\n'
        const headers = { upgrade: 'websocket', connection: 'Upgrade', 'content-type': 'text/plain' }
        return endResponse(new fetchAPI.Response(text, { status: 426, headers }))
      }
      if (path === live) return answer(true)
      return path === ready ? isReady().then(answer, () => answer(false)) : undefined
    },
  })
}
