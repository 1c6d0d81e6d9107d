import { systemClock } from '@vinyasa/base'
import type { Plugin } from 'graphql-yoga'
import { pathOf } from './pathname.ts'
import { withBehaviour } from '../behaviour.ts'

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

/** Answers whether requests may be sent here: 200 or 503, and no more than that to strangers. */
export function useReadiness(options: { readonly path: string; isReady(): Promise<boolean> }): Plugin {
  const { path, isReady } = options
  return withBehaviour({
    onRequest({ request, endResponse, fetchAPI }) {
      if (!request.url.includes(path) || pathOf(request.url) !== path) return undefined
      const answer = (ready: boolean): void =>
        endResponse(new fetchAPI.Response(null, { status: ready ? 200 : 503 }))
      return isReady().then(answer, () => answer(false))
    },
  })
}
