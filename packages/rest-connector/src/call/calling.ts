import type { Ending } from '@vinyasa/core'
import type { MutationAnnouncer, MutationOutcome } from '@vinyasa/invalidation'
import type { NamedSource } from '@vinyasa/source-kit'
import type { GraphQLSchema } from 'graphql'
import type { CompiledEndpoint } from '../declare/endpoint.ts'
import type { AttemptSettings, RestResponse } from '../http/attempt.ts'
import type { ForwardHeaders } from '../http/forward-headers.ts'
import type { WireRequest } from '../http/transport.ts'
import type { CallInfo } from '../interceptors/interceptor.ts'
import type { Breaker } from '../retry/breaker.ts'
import type { RetryBudget } from '../retry/retry-budget.ts'
import type { RetryOptions } from '../retry/retry-policy.ts'
import type { Args } from '../templates/template.ts'
import type { ReadSettings } from './cache/read-through.ts'
import type { ResponseTypes } from './cache/response-cache.ts'
import type { LogBody } from './log-bodies.ts'
import type { ObserveAttempt } from './observe.ts'
import type { PrepareSettings } from './prepare.ts'
import type { ResponseTransformer } from './transformer.ts'

/** The settings that the calls of a connector share. */
export interface CallSettings {
  readonly connector: string
  readonly random: () => number
  readonly retry: RetryOptions
  readonly budget: RetryBudget
  readonly breaker: Breaker
  /** Undefined: a minute, or as long as an attempt of the endpoint may take if that is more. */
  readonly totalTimeoutMs: number | undefined
  readonly attempting: AttemptSettings
  readonly preparing: PrepareSettings
  readonly reading: ReadSettings
  /** Tells caches of whole answers how long a response lets them be kept. */
  readonly limit: ((response: RestResponse, context: unknown) => void) | undefined
  readonly forward: ForwardHeaders | undefined
  readonly transformer: ResponseTransformer | undefined
  /** Counts a call for the operation that it belongs to; throws when it is one too many. */
  readonly operationLimit: (operation: object | undefined) => void
  readonly logBody: LogBody | undefined
  readonly observe: ObserveAttempt | undefined
  readonly exposeErrors: boolean
  readonly announcer: MutationAnnouncer
  /** Returns the types in an endpoint's response, as the schema of an operation says where there is one. */
  readonly typesOf: (endpoint: CompiledEndpoint, schema: GraphQLSchema | undefined) => ResponseTypes
  /** Returns the connector's source under the names that clients use; not asked before the first call. */
  readonly named: () => NamedSource
}

/** The facts of one call that its error may tell. */
export interface Progress {
  attempts: number
  /** The request as the endpoint's templates make it, and as it went out. */
  rendered: WireRequest | undefined
  sent: WireRequest | undefined
  /** The outcome of all attempts together: an unknown one stays unknown when a later attempt is refused. */
  outcome: MutationOutcome
}

/** One call under way. */
export interface Calling {
  readonly endpoint: CompiledEndpoint
  readonly args: Args
  readonly context: unknown
  /** The context, or those of all who share the call. */
  readonly caller: unknown
  readonly settings: CallSettings
  readonly progress: Progress
  readonly isConditional: boolean
}

/**
 * An attempt as interceptors and observers are told of it. It is a class for its getter: one in a literal gives each object a
 * hidden class, which keeps the whole request for long.
 */
export class AttemptInfo implements CallInfo {
  readonly connector: string
  readonly endpoint: string
  readonly args: Args
  readonly attempt: number
  readonly context: unknown
  readonly #ending: Ending

  constructor({ endpoint, args, context, settings }: Calling, number: number, ending: Ending) {
    this.connector = settings.connector
    this.endpoint = endpoint.name
    this.args = args
    this.attempt = number
    this.context = context
    this.#ending = ending
  }

  /** Made for whoever asks for it. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }
}
