import type { ReachedBrokers } from '../bus/reached-brokers.ts'
import type { ShareMetrics } from '../observability/metrics/shared-metrics.ts'
import type { LogSettings } from '../workers/run-workers.ts'
import type { ReloadPart, Reloads } from '../workers/reloads.ts'
import type { PresetName } from '../presets.ts'
import type { InvalidationBus } from '@vinyasa/invalidation'

/** The parts of its process that a command may use. */
export interface CommandContext {
  /** Current directory. */
  readonly directory: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Aborted on SIGINT or SIGTERM. */
  readonly shutdown: AbortSignal
  /** Dispatches `reload` on SIGHUP. */
  readonly reload: EventTarget
  /** In the first process: runs the command line again in this many processes; in those: undefined. */
  readonly runWorkers?: ((count: number) => Promise<number>) | undefined
  /** In a worker: makes a bus of its own one that the other workers share. `onError` hears when they cannot be told. */
  readonly shareBus?:
    | ((local: InvalidationBus, onError: (error: Error) => void) => InvalidationBus)
    | undefined
  /** In a worker: makes its metrics those of all workers. */
  readonly shareMetrics?: ((onError: (error: unknown) => void) => ShareMetrics) | undefined
  /** In a worker: takes part in reloads of all workers. Gives what asks for one. */
  readonly joinReloads?: ((part: ReloadPart) => Pick<Reloads, 'request' | 'close'>) | undefined
  /** In a worker: tells the first process how to log what becomes of workers. */
  readonly tellLogSettings?: ((settings: LogSettings) => void) | undefined
  /** In a worker: brokers that workers have reached. Default: none. */
  readonly reachedBrokers?: ReachedBrokers | undefined
  /** Hears that the gateway serves. Default: nobody. */
  readonly onServing?: (() => void) | undefined
  /** Hears when a gateway begins to hold large answers, and when it no longer does. Default: nobody. */
  readonly onLargeAnswers?: ((areHeld: boolean) => void) | undefined
  /** Asks the person at the terminal; undefined where there is none. */
  readonly ask?: ((question: string) => Promise<string>) | undefined
  print(text: string): void
  printError(text: string): void
}

export interface PresetFlag {
  readonly config?: string
  readonly preset?: PresetName
}

export interface CheckFlags extends PresetFlag {
  /** A file with the schema that clients know. */
  readonly against?: string
  readonly verbose?: boolean
}

export interface StartFlags extends PresetFlag {
  readonly port?: number | undefined
  readonly host?: string
  readonly watch?: boolean
  readonly workers?: number
}
