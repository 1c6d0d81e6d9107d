import { type Clock, systemClock } from '@vinyasa/core'
import { listen, type Peer, send } from './peer.ts'
import type { ReloadFailure, ReloadPart, Reloads } from './reloads.ts'

/** A message between workers and the first process about reloads. */
interface ReloadMessage {
  readonly vinyasa: 'reload'
  /** A worker says that it can take part (`join`), that it would reload (`request`), and what came of `prepare` (`prepared`). */
  readonly kind: 'join' | 'request' | 'prepare' | 'prepared' | 'commit' | 'abandon'
  /** Number of the attempt. */
  readonly id: number
  readonly failure?: ReloadFailure | undefined
}

/** A backend that hangs is given up long before. */
const PREPARE_MS = 60_000

function say(peer: Peer, kind: ReloadMessage['kind'], id = 0, failure?: ReloadFailure): void {
  send<ReloadMessage>(peer, { vinyasa: 'reload', kind, id, failure })
}

/** In a worker: takes part in the reloads of the first process. Gives what asks it for one. */
export function joinReloads(first: Peer, part: ReloadPart): Pick<Reloads, 'request' | 'close'> {
  listen<ReloadMessage>(first, 'reload', ({ kind, id }) => {
    if (kind === 'prepare') void part.prepare().then((failure) => say(first, 'prepared', id, failure))
    if (kind === 'commit') part.commit()
    if (kind === 'abandon') part.abandon()
  })
  say(first, 'join')
  return { request: () => say(first, 'request'), close: () => {} }
}

export interface WorkerPartOptions {
  /** For people. */
  readonly name: string
  readonly onJoin: (part: ReloadPart) => void
  readonly onRequest: () => void
  readonly clock?: Clock | undefined
}

/** In the first process: a worker's part in reloads, from the moment on when it joins. */
export function listenForReloads(worker: Peer, options: WorkerPartOptions): void {
  const { name, onJoin, onRequest, clock = systemClock } = options
  let id = 0
  let settle: (failure: ReloadFailure | undefined) => void = () => {}
  listen<ReloadMessage>(worker, 'reload', (message) => {
    if (message.kind === 'join') onJoin(part)
    if (message.kind === 'request') onRequest()
    if (message.kind === 'prepared' && message.id === id) settle(message.failure)
  })
  worker.on('disconnect', () => settle(failure(`${name} ended while it prepared the reload`)))

  const part: ReloadPart = {
    prepare: () =>
      new Promise((resolve) => {
        const timer = clock.setTimeout(
          () => settle(failure(`${name} did not prepare the reload within ${PREPARE_MS / 1_000} s`)),
          PREPARE_MS,
        )
        settle = (found) => {
          clock.clearTimeout(timer)
          resolve(found)
        }
        if (worker.isConnected()) say(worker, 'prepare', ++id)
        else settle(failure(`${name} ended before the reload`))
      }),
    commit: () => say(worker, 'commit'),
    abandon: () => say(worker, 'abandon'),
  }
}

function failure(what: string): ReloadFailure {
  return { reason: `${what}; see its last log lines`, isFinal: false }
}
