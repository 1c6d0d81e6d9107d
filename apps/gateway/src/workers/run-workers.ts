import { systemClock } from '@vinyasa/core'
import type { Cluster, Worker } from 'node:cluster'
import { type ReachedMessage, reachedVariable } from '../bus/reached-brokers.ts'
import { createBusRelay } from './bus-relay.ts'
import { messageOf } from '../errors.ts'
import type { Logger } from '../logging/logger.ts'
import { watchHeartbeat } from './heartbeat.ts'
import { createMetricsRelay } from './metrics-relay.ts'
import { closeUntaken } from './node-cluster.ts'
import { listen } from './peer.ts'
import { listenForReloads } from './reload-messages.ts'
import { createReloads, reloadFailure, type ReloadPart } from './reloads.ts'
import type { LogConfig } from '../logging/log-types.ts'

/** How a gateway logs, as its config says: the first process of several reads none. */
export type LogSettings = Pick<LogConfig, 'level' | 'format'>

export interface LogMessage {
  readonly vinyasa: 'log'
  readonly settings: LogSettings
}

/** Workers that ask for the same reload do so within this time. */
const GATHER_MS = 200

/** Exit code of a process that a second Ctrl-C ended. */
export const INTERRUPTED = 130

/** Wait before a worker that died is replaced, so that one that cannot start does not spin. */
const RESTART_DELAY_MS = 500

export interface WorkersOptions {
  readonly cluster: Cluster
  readonly count: number
  /** Aborted when all workers should stop. */
  readonly shutdown: AbortSignal
  /** Dispatches `reload`: all workers serve what is configured then, or none does. */
  readonly reload: EventTarget
  /** Shows events before a worker has read how to log. */
  readonly print: (line: string) => void
}

/**
 * Runs the same command line in `count` processes that share the port. A worker that dies, or is stopped, is replaced.
 * Resolves to the exit code when all have stopped: 1 if a worker died before any was ready, and 130 if a second Ctrl-C
 * ended the last worker.
 */
export function runWorkers(options: WorkersOptions): Promise<number> {
  const { shutdown, reload } = options
  return new Promise((resolve) => {
    const workers = new Workers(options, (code) => {
      reload.removeEventListener('reload', onReload)
      resolve(code)
    })
    const onReload = (): void => workers.reload()
    reload.addEventListener('reload', onReload)
    shutdown.addEventListener('abort', () => workers.shutDown(), { once: true })
    workers.start()
  })
}

class Workers {
  readonly #options: WorkersOptions
  readonly #finish: (code: number) => void
  readonly #workers = new Set<Worker>()
  readonly #relay = createBusRelay()
  readonly #addToMetrics = createMetricsRelay((error) => {
    if (this.#logger) this.#logger.error(error, 'metrics of an exited worker are lost')
    else this.#options.print(`metrics of an exited worker are lost: ${messageOf(error)}`)
  })
  /** A worker that takes another's place may find them away. */
  readonly #reachedBrokers = new Set<string>()
  readonly #parts = new Map<Worker, ReloadPart>()
  readonly #reloads = createReloads({
    parts: () => [...this.#parts.values()],
    onFailure: (failure, retryMs) => {
      if (this.#logger) reloadFailure(this.#logger)(failure, retryMs)
      else this.#options.print(`reload failed: ${failure.reason}`)
    },
  })
  #logger: Logger | undefined
  #isListening = false
  #isStopping = false
  /** Whether a second Ctrl-C ended a worker that has not been replaced. */
  #isInterrupted = false
  #soonTimer: unknown

  constructor(options: WorkersOptions, finish: (code: number) => void) {
    this.#options = options
    this.#finish = finish
  }

  start(): void {
    this.#isInterrupted = false
    const worker = this.#options.cluster.fork(reachedVariable(this.#reachedBrokers))
    this.#workers.add(worker)
    closeUntaken(worker)
    worker.on('error', (error) => {
      // Node answers messages of workers that can have died since. Their `exit` event follows.
      if (worker.process.pid === undefined) throw error
    })
    listen<LogMessage>(worker, 'log', ({ settings }) => void this.#logAs(settings))
    listen<ReachedMessage>(worker, 'reached', ({ broker }) => this.#reachedBrokers.add(broker))
    // A config that was read before an attempt may be older than the one that the attempt was about.
    const { attempts } = this.#reloads
    listenForReloads(worker, {
      name: `worker ${worker.process.pid}`,
      onJoin: (part) => {
        this.#parts.set(worker, part)
        if (this.#reloads.attempts > attempts) this.reload()
      },
      onRequest: () => this.#reloadSoon(),
    })
    const leaveBus = this.#relay.add(worker, () => {
      this.#warn(
        worker,
        'receives invalidation events late and does not use its cache until it has applied all of them',
      )
    })
    const leaveMetrics = this.#addToMetrics(worker)
    let endWatch = (): void => {}
    worker.once('listening', () => {
      // A worker may take long before, and holds nobody up.
      endWatch = watchHeartbeat(worker, {
        onSilent: (reason) => {
          this.#warn(worker, `is killed: ${reason}`)
          worker.process.kill('SIGKILL')
        },
      })
      this.#startOthers()
    })
    worker.once('exit', (code, signal) => {
      endWatch()
      leaveBus(code === 0)
      leaveMetrics()
      this.#ended(worker, code, signal)
    })
  }

  reload(): void {
    this.#reloads.request()
  }

  shutDown(): void {
    this.#stop()
    // The last worker can have died, and its replacement is not started anymore.
    if (this.#workers.size === 0) this.#finish(0)
  }

  #stop(): void {
    this.#isStopping = true
    systemClock.clearTimeout(this.#soonTimer)
    this.#reloads.close()
    for (const worker of this.#workers) worker.process.kill('SIGTERM')
  }

  /** The first worker has shown that the config works: its mistakes are reported once, not once a worker. */
  #startOthers(): void {
    if (this.#isListening) return
    this.#isListening = true
    for (let started = 1; started < this.#options.count; started++) this.start()
  }

  #ended(worker: Worker, code: number, signal: string | null): void {
    const { shutdown } = this.#options
    this.#workers.delete(worker)
    this.#parts.delete(worker)
    if (code === INTERRUPTED) this.#isInterrupted = true
    // A terminal sends Ctrl-C to all processes. The workers can receive the second one before this process receives the first.
    const isOver = this.#isInterrupted && this.#workers.size === 0
    if (shutdown.aborted || !this.#isListening || isOver) {
      // The remaining workers have received a signal. A second one would end their requests in flight.
      if (!shutdown.aborted) this.#stop()
      if (this.#workers.size === 0) this.#finish(isOver ? INTERRUPTED : shutdown.aborted ? 0 : code || 1)
      return
    }
    const how = signal === null ? `exited with code ${code}` : `was ended by the signal ${signal}`
    this.#warn(worker, `${how}; starting a new worker`, { code, signal })
    systemClock.setTimeout(() => {
      if (!this.#isStopping) this.start()
    }, RESTART_DELAY_MS)
  }

  /** Each worker sees a change of a file that it watches, and asks for the same reload. */
  #reloadSoon(): void {
    systemClock.clearTimeout(this.#soonTimer)
    this.#soonTimer = systemClock.setTimeout(() => this.reload(), GATHER_MS)
  }

  #warn(worker: Worker, what: string, details: object = {}): void {
    const { pid } = worker.process
    if (this.#logger) this.#logger.warn({ worker: pid, ...details }, `worker ${what}`)
    else this.#options.print(`worker ${pid} ${what}`)
  }

  async #logAs(settings: LogSettings): Promise<void> {
    try {
      const { createLogger } = await import('../logging/logger.ts')
      this.#logger = await createLogger(settings)
    } catch (error) {
      this.#options.print(messageOf(error))
    }
  }
}
