import { setTimeout as sleep } from 'node:timers/promises'
import {
  followLiveEvents,
  followLiveFrames,
  type LiveStreamOptions,
  type LiveUpdate,
} from '@vinyasa/test-kit'
import { boolean, constant, constantFrom, record, tuple } from 'fast-check'
import { followEventSource } from '../event-source.ts'
import type { Feature, Session, Value } from '../feature.ts'
import { Code, mergePieces, type Piece } from '../config-file.ts'
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

interface Transport {
  readonly isSocket: boolean
  follow(session: Session, options: LiveStreamOptions): Promise<unknown>
  /** What is wrong with the form of an update. */
  whyNot(update: Sent): string | undefined
}

/** All that an update may hold. */
interface Sent extends Answer {
  readonly revision?: number
}

const inExtensions = ({ extensions, ...payload }: Sent): string | undefined => {
  const { revision } = (extensions?.['liveQuery'] ?? {}) as Sent
  if (typeof revision !== 'number') return 'no revision in extensions.liveQuery'
  const more = Object.keys(payload).find((name) => name !== 'data' && name !== 'errors')
  return more && `${more} beside the data`
}

const TRANSPORTS = {
  sse: {
    isSocket: false,
    follow: ({ endpoint }, options) => followLiveEvents(endpoint, options),
    whyNot: inExtensions,
  },
  ws: {
    isSocket: true,
    follow: ({ endpoint }, options) => followLiveFrames(endpoint, options),
    whyNot: ({ revision }) => (typeof revision === 'number' ? undefined : 'no revision in the payload'),
  },
  EventSource: {
    isSocket: false,
    follow: ({ endpoint, violate }, { onUpdate, ...options }) =>
      followEventSource(endpoint, {
        headers: {},
        ...options,
        onEvent({ name, data }) {
          if (name !== '') violate(`an EventSource hears nothing of an event with a name: ${name}`)
          onUpdate(JSON.parse(data) as LiveUpdate)
        },
      }),
    whyNot: inExtensions,
  },
  patches: {
    isSocket: true,
    follow: ({ endpoint }, options) => followLiveFrames(endpoint, options),
    whyNot: inExtensions,
  },
} satisfies Record<string, Transport>

/** Users watch the same, and see each change, their own. */
const watch =
  (transport: Transport): NonNullable<Value['during']> =>
  async (session) => {
    const updates: Answer[] = []
    session.keep('live', updates)
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
          updates.push(update)
          const whyNot = transport.whyNot(update)
          if (whyNot !== undefined)
            session.violate(`an update has another form: ${whyNot}, ${JSON.stringify(update)}`)
          see(session, watcher, update)
        },
      }
      // A gateway that reads its config anew ends what is open, and clients come back.
      for (let connection = 0; connection < CONNECTIONS && !abort.signal.aborted; connection++) {
        isOpen = false
        watcher.ended = undefined
        watcher.ended = String(await transport.follow(session, options).catch((error: unknown) => error))
        if (!isOpen) session.beside('unheard', 1)
        else if (!abort.signal.aborted) session.beside('endedLive', 1)
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
function count({ beside }: Session, { isSocket }: Transport): void {
  if (!isSocket) beside('requests', 1)
  if (!isSocket) beside('bypassed', 1)
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

const drawn =
  (more: Piece): Value['config'] =>
  () => {
    const defaults = constantFrom<Piece>(
      {},
      { strategy: 'POLLING', pollIntervalMs: 200 },
      { strategy: 'HASH_DIFF', pollIntervalMs: 200 },
      { volatility: 'High', maxConnections: 100, ttlSeconds: 3_600 },
      { dependsOn: ['Book'], filter: 'gateway' },
    )
    const rare = constantFrom<Piece>(
      {},
      { fields: { book: { enabled: true, throttleMs: 10 } } },
      { revalidate: new Code('() => true'), revalidateSeconds: 1 },
      { varyHeaders: ['authorization', 'x-lang'] },
    )
    const usual = record({
      defaults: record({ enabled: constant(true), throttleMs: constantFrom(0, 50) }),
      batch: constantFrom<Piece>({}, { enabled: false }, { debounceMs: 5, maxBatchSize: 2, maxWaitMs: 50 }),
      skipUnchanged: boolean(),
      matchEntityId: boolean(),
      maxSubscriptions: constantFrom(100, 10_000),
      sockets: record({
        maxSubscriptionsPerSocket: constantFrom(1, 100),
        maxMessageBytes: constant(10_000),
        keepAliveMs: constantFrom(500, 12_000),
      }),
    })
    return tuple(usual, defaults, rare).map(([one, defaults, rare]) => ({
      liveQuery: mergePieces([one, { defaults }, rare, more]),
    }))
  }
/** Live queries bring their text. */
const fits: Value['fits'] = (row) => row['documents'] !== 'only'

const by = (name: keyof typeof TRANSPORTS, more: Piece = {}): Value => ({
  name,
  config: drawn(more),
  fits,
  during: watch(TRANSPORTS[name]),
})

/** `EventSource` and `patches` are what clients of graphql-live-query read. */
export const live: Feature = {
  name: 'live',
  settings: ['liveQuery'],
  values: [
    { name: 'off', config: () => constant({ liveQuery: false }) },
    by('sse'),
    by('ws'),
    by('EventSource', { eventNames: false }),
    by('patches', { updateFields: 'extensions' }),
  ],
}
