import { setTimeout as sleep } from 'node:timers/promises'
import { followLiveEvents, followLiveFrames, type LiveUpdate } from '@vinyasa/test-kit'
import { constant, constantFrom, record } from 'fast-check'
import type { Feature, Session, Value } from '../feature.ts'
import { isSame } from '../judge.ts'
import { WATCHED } from '../operations.ts'
import type { Answer } from '../run.ts'
import { type User, USERS } from '../users.ts'

/** How long until a live client shows what was changed. */
const PATIENCE_MS = 6_000
const WATCHERS = 4
/** How often one client connects at most. */
const CONNECTIONS = 5
const query = WATCHED.text.replace('query Watched', 'query Watched @live')

interface Watcher {
  readonly user: User
  shown: Answer | undefined
  ended: string | undefined
}

/** Users watch the same, and see each change, their own. */
const watch =
  (transport: 'sse' | 'ws'): NonNullable<Value['during']> =>
  async (session) => {
    const abort = new AbortController()
    const watchers = USERS.slice(0, WATCHERS).map((user): Watcher => ({
      user,
      shown: undefined,
      ended: undefined,
    }))
    const all = watchers.map(async (watcher) => {
      let isOpen = false
      const options = {
        headers: { ...watcher.user.headers, ...session.headers, 'x-client': `watcher ${watcher.user.name}` },
        query,
        signal: abort.signal,
        onUpdate: (update: LiveUpdate) => {
          if (!isOpen) count(session, transport)
          isOpen = true
          see(session, watcher, update)
        },
      }
      const follow = transport === 'sse' ? followLiveEvents : followLiveFrames
      // A gateway that reads its config anew ends what is open, and clients come back.
      for (let connection = 0; connection < CONNECTIONS && !abort.signal.aborted; connection++) {
        isOpen = false
        watcher.ended = undefined
        watcher.ended = String(await follow(session.endpoint, options).catch((error: unknown) => error))
      }
    })
    await until(() => watchers.every(({ shown, ended }) => shown !== undefined || ended !== undefined))
    return async () => {
      const last = session.states.length - 1
      const isThere = ({ user, shown }: Watcher): boolean =>
        shown !== undefined && isSame(shown, session.expected(WATCHED, user, last))
      await until(() => watchers.every(isThere))
      for (const watcher of watchers.filter((watcher) => !isThere(watcher)))
        session.violate(
          `a live client does not see the newest: ${watcher.user.name}, ${watcher.ended ?? 'open'}, ${JSON.stringify(watcher.shown)}`,
        )
      abort.abort()
      await Promise.all(all)
    }
  }

/** A socket is no request; its operations are counted like others. */
function count({ beside }: Session, transport: 'sse' | 'ws'): void {
  if (transport === 'sse') beside('requests', 1)
  if (transport === 'sse') beside('bypassed', 1)
  beside('queries', 1)
}

function see(session: Session, watcher: Watcher, update: LiveUpdate): void {
  const { data, errors } = update as Answer
  const shown: Answer = { data, ...(errors && { errors }) }
  watcher.shown = shown
  const isKnown = session.states.some((_, state) =>
    isSame(shown, session.expected(WATCHED, watcher.user, state)),
  )
  if (isKnown) return
  const what =
    session.foreign(shown, watcher.user).length > 0
      ? "a live client sees another's"
      : 'a live update is wrong'
  session.violate(`${what}: ${watcher.user.name}, ${JSON.stringify(update)}`)
}

async function until(holds: () => boolean): Promise<void> {
  const latest = performance.now() + PATIENCE_MS
  while (!holds() && performance.now() < latest) await sleep(20)
}

const config: Value['config'] = () =>
  record({
    liveQuery: record({
      defaults: record({ enabled: constant(true), throttleMs: constantFrom(0, 50) }),
    }),
  })
/** Live queries bring their text. */
const fits: Value['fits'] = (row) => row['documents'] !== 'only'

export const live: Feature = {
  name: 'live',
  settings: ['liveQuery'],
  values: [
    { name: 'off', config: () => constant({ liveQuery: false }) },
    { name: 'sse', config, fits, during: watch('sse') },
    { name: 'ws', config, fits, during: watch('ws') },
  ],
}
