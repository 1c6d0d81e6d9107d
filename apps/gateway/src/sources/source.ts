import type { Observability } from '../observability/observability.ts'
import type { SourceOptions } from './types.ts'
import type { Logger } from '../logging/logger.ts'
import type { VariesBy, InvalidationBus } from '@vinyasa/invalidation'
export interface SourceHealth {
  readonly name: string
  readonly healthy: boolean
  /** Why not, for operators; never shown to clients. */
  readonly reason?: string | undefined
}

/** A backend as the gateway needs it, whatever it speaks. */
export interface Source {
  /** Its key in the config. */
  readonly name: string
  /** Its section of the config. */
  readonly kind: keyof SourceOptions
  /** A Yoga plugin that adds its fields to the schema. */
  readonly plugin: object
  /** The object that resolvers of the config's own `typeDefs` get as `context.sources[name]`. */
  readonly api: object
  /** The member of `api` that calls it: with a name, arguments and a scope. */
  readonly callMember: string
  /** The parts of a client's request that can change what it answers; undefined: none. */
  readonly variesBy: VariesBy | undefined
  /** Notes on what it left out or calls otherwise than its description does, a line each. */
  readonly notes: readonly string[]
  /** Paths that it was read from, for `--watch`. */
  readonly files: readonly string[]
  /** Names of its types and root fields. */
  names(): readonly string[]
  /** State of its circuit breaker, if it has one. */
  readonly breaker?: (() => 'off' | 'closed' | 'half-open' | 'open') | undefined
  health(signal: AbortSignal): Promise<SourceHealth>
  close(): Promise<void>
}

export interface SourceEnvironment {
  readonly baseDirectory: string
  readonly bus: InvalidationBus
  readonly logger: Logger
  readonly observability: Pick<Observability, 'observe'>
}
