import { followLiveEvents, followLiveFrames, type LiveUpdate } from '@vinyasa/test-kit'
import { type Answer, SOCKET_PATHS } from './ask.ts'
import type { Operation, UserHeaders } from './plan.ts'
import type { Place } from './places.ts'
import { textOf } from './shapes.ts'

/** A client with one live query open. */
export interface Watcher {
  readonly place: Place
  readonly user: UserHeaders
  readonly operation: Operation
  readonly name: string
  /** What it was sent last. */
  readonly shown: Answer | undefined
  /** Why it is not live any more. */
  readonly ended: string | undefined
  readonly updates: number
  close(): Promise<void>
}

export function watch(
  place: Place,
  user: UserHeaders,
  operation: Operation,
  transport: 'sse' | 'graphql socket' | 'live socket',
  onUpdate: (update: LiveUpdate) => void,
): Watcher {
  const abort = new AbortController()
  let shown: Answer | undefined
  let ended: string | undefined
  let updates = 0
  const options = {
    headers: user,
    query: textOf(operation, '@live'),
    variables: operation.variables,
    signal: abort.signal,
    onUpdate(update: LiveUpdate) {
      shown = update
      updates++
      onUpdate(update)
    },
  }
  const follow =
    transport === 'sse'
      ? followLiveEvents(`${place.url}/graphql`, options)
      : followLiveFrames(`${place.url}${SOCKET_PATHS[transport]}`, options)
  const done = follow
    .catch((error: unknown) => String(error))
    .then((reason) => {
      ended = `ended ${reason ?? ''}`
      return ended
    })
  return {
    place,
    user,
    operation,
    name: `live over ${transport} at ${place.name}`,
    get shown() {
      return shown
    },
    get ended() {
      return ended
    },
    get updates() {
      return updates
    },
    async close() {
      abort.abort()
      await done
    },
  }
}
