import { systemClock } from '@vinyasa/base'
import type { Cluster, Worker } from 'node:cluster'
import { createBusRelay } from './bus-relay.ts'
import { messageOf } from '../errors.ts'
import type { Logger } from '../logging/logger.ts'
import { isLogMessage } from './log-settings.ts'
import { watchHeartbeat } from './heartbeat.ts'
import { closeUntaken } from './node-cluster.ts'

export interface WorkersOptions {
  readonly cluster: Cluster
  readonly count: number
  /** Aborted when all workers should stop. */
  readonly shutdown: AbortSignal
  /** Dispatches `reload`, which is passed on to each worker as SIGHUP. */
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
  let logger: Logger | undefined
  let listening = false
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

  function stop(): void {
    for (const worker of workers) worker.process.kill('SIGTERM')
  }

  const onReload = (): void => {
    for (const worker of workers) worker.process.kill('SIGHUP')
  }
  reload.addEventListener('reload', onReload)
  shutdown.addEventListener('abort', stop, { once: true })
  start()
  const code = await finished
  reload.removeEventListener('reload', onReload)
  return code
}
