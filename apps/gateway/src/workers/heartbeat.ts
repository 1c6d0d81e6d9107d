import { readFileSync } from 'node:fs'
import { listen } from './peer.ts'

/** A process on the other side of a channel, as far as a heartbeat needs it. */
interface Listener {
  on(event: 'message', listener: (message: unknown) => void): unknown
}

/** A worker that is watched. */
export interface Watched extends Listener {
  readonly process: { readonly pid?: number | undefined }
  isConnected(): boolean
  send(message: object): unknown
}

export interface WatchOptions {
  /** Called once, with what is known of the reason. */
  readonly onSilent: (reason: string) => void
  /** Between two beats. Default 500. */
  readonly beatMs?: number | undefined
  /** Tells whether a process was stopped; undefined where the system does not say. Default: as Linux has it. */
  readonly isStopped?: ((pid: number) => boolean | undefined) | undefined
}

/** Beats without an answer after which a worker that was stopped is given up, and one that may only be busy. */
const STOPPED_BEATS = 5
const BUSY_BEATS = 60

/**
 * Asks a worker again and again whether it is there. One that was stopped (SIGSTOP, a frozen container) is noticed within
 * 3 s; one that computes is given 30 s. Beats are counted, not time, so that nobody is given up for a pause of this
 * process. Returns what ends the watch.
 */
export function watchHeartbeat(worker: Watched, options: WatchOptions): () => void {
  const { onSilent, beatMs = 500, isStopped = isStoppedOnLinux } = options
  let unanswered = 0
  listen(worker, BEAT.vinyasa, () => (unanswered = 0))
  const timer = setInterval(() => {
    const pid = worker.process.pid
    if (!worker.isConnected() || pid === undefined) return
    const isSilent = unanswered >= STOPPED_BEATS
    if (isSilent && (unanswered >= BUSY_BEATS || isStopped(pid) !== false)) {
      clearInterval(timer)
      onSilent(`it has not responded for ${(unanswered * beatMs) / 1_000} s`)
      return
    }
    unanswered++
    worker.send(BEAT)
  }, beatMs)
  return () => clearInterval(timer)
}

/** In a worker: answers the first process's beats. */
export function answerHeartbeat(worker: Listener & { send(message: object): unknown }): void {
  listen(worker, BEAT.vinyasa, () => worker.send(BEAT))
}

const BEAT = { vinyasa: 'heartbeat' }

/** The state stands behind the name, which may hold anything but is in parentheses (proc(5)). */
function isStoppedOnLinux(pid: number): boolean | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat[stat.lastIndexOf(')') + 2] === 'T'
  } catch {
    return undefined
  }
}
