import { systemClock } from '@vinyasa/base'
import type { Cluster, Worker } from 'node:cluster'
import { createBusRelay } from './bus-relay.ts'
import { messageOf } from '../errors.ts'
import type { Logger } from '../logging/logger.ts'
import { isLogMessage } from './log-settings.ts'
import { watchHeartbeat } from './heartbeat.ts'
import { closeUntaken } from './node-cluster.ts'
import { listenForReloads } from './reload-messages.ts'
import { createReloads, reloadFailure, type ReloadPart } from './reloads.ts'

/** Between the first worker that asks for a reload and the last. */
const GATHER_MS = 200

export interface WorkersOptions {
  readonly cluster: Cluster
  readonly count: number
  /** Aborted when all workers should stop. */
  readonly shutdown: AbortSignal
  /** Dispatches `reload`: all workers serve what is configured then, or none does. */
  readonly reload: EventTarget
  /** For what happens before a worker has read how to log. */
  readonly print: (line: string) => void
  /** Wait before a worker that died is replaced, so that one that cannot start does not spin. Default 500 ms. */
  readonly restartDelayMs?: number | undefined
}

/**
 * Runs the same command line in `count` processes that share the port. A worker that dies, or is stopped, is replaced.
 * Resolves to the exit code when all have stopped: 1 when a worker died before any was ready.
 */
export async function runWorkers(options: WorkersOptions): Promise<number> {
  const { cluster, count, shutdown, reload, print, restartDelayMs = 500 } = options
  const workers = new Set<Worker>()
  const relay = createBusRelay()
  const parts = new Map<Worker, ReloadPart>()
  const reloads = createReloads({
    parts: () => [...parts.values()],
    onFailure(failure, retryMs) {
      if (logger) reloadFailure(logger)(failure, retryMs)
      else print(`reload failed: ${failure.reason}`)
    },
  })
  let logger: Logger | undefined
  let listening = false
  let soonTimer: unknown
  let finish: (code: number) => void = () => {}
  const finished = new Promise<number>((resolve) => {
    finish = resolve
  })

  function warn(worker: Worker, what: string, details: object = {}): void {
    const { pid } = worker.process
    if (logger) logger.warn({ worker: pid, ...details }, `worker ${what}`)
    else print(`worker ${pid} ${what}`)
  }

  function start(): void {
    const worker = cluster.fork()
    workers.add(worker)
    closeUntaken(worker)
    worker.on('message', (message) => {
      if (!isLogMessage(message)) return
      import('../logging/logger.ts')
        .then(({ createLogger }) => createLogger(message.settings))
        .then(
          (made) => (logger = made),
          (error: unknown) => print(messageOf(error)),
        )
    })
    // What was read before an attempt may be older than what that was about.
    const attempts = reloads.attempts
    listenForReloads(worker, {
      name: `worker ${worker.process.pid}`,
      onJoin(part) {
        parts.set(worker, part)
        if (reloads.attempts > attempts) reloads.request()
      },
      onRequest: soon,
    })
    const leaveBus = relay.add(worker, () => {
      warn(worker, 'is slow to hear of changes; until it has, it answers without its cache')
    })
    let endWatch = (): void => {}
    worker.once('listening', () => {
      // From now on: what it does before may take long, and holds nobody up.
      endWatch = watchHeartbeat(worker, {
        onSilent(reason) {
          warn(worker, `is ended: ${reason}`)
          worker.process.kill('SIGKILL')
        },
      })
      if (listening) return
      listening = true
      // The first one has shown that the config works: its mistakes are reported once, not once a worker.
      for (let started = 1; started < count; started++) start()
    })
    worker.once('exit', (code, signal) => {
      endWatch()
      leaveBus(code === 0)
      workers.delete(worker)
      parts.delete(worker)
      if (shutdown.aborted || !listening) {
        stop()
        if (workers.size === 0) finish(shutdown.aborted ? 0 : code || 1)
        return
      }
      const how = signal === null ? `with code ${code}` : `by ${signal}`
      warn(worker, `ended ${how}; starting another`, { code, signal })
      systemClock.setTimeout(() => {
        if (!shutdown.aborted) start()
      }, restartDelayMs)
    })
  }

  /** Each worker sees a change of a file that it watches, and asks for the same reload. */
  function soon(): void {
    systemClock.clearTimeout(soonTimer)
    soonTimer = systemClock.setTimeout(() => reloads.request(), GATHER_MS)
  }

  function stop(): void {
    systemClock.clearTimeout(soonTimer)
    reloads.close()
    for (const worker of workers) worker.process.kill('SIGTERM')
  }

  const onReload = (): void => reloads.request()
  reload.addEventListener('reload', onReload)
  shutdown.addEventListener('abort', stop, { once: true })
  start()
  const code = await finished
  reload.removeEventListener('reload', onReload)
  return code
}
