import { randomUUID } from 'node:crypto'
import type { GraphQLSchema } from 'graphql'
import type { MutationAnnouncer, MutationOutcome } from '@vinyasa/invalidation'
import { checkedAnswer } from './checked-answer.ts'
import { compileAnnouncement, outcomeOf, type MutationField } from './announce.ts'
import { attempt, BadStatus, type AttemptSettings, type RestResponse } from '../http/attempt.ts'
import type { Breaker } from '../retry/breaker.ts'
import { cacheKey } from '../http/cache-key.ts'
import { Deadline, DeadlineExceeded } from '../http/deadline.ts'
import { Ending, followSignals } from '../http/ending.ts'
import type { CompiledEndpoint } from '../declare/endpoint.ts'
import { explain } from './explain.ts'
import type { ForwardHeaders } from '../http/forward-headers.ts'
import type { CallInfo } from '../interceptors/interceptor.ts'
import type { LogBody } from './log-bodies.ts'
import type { ObserveAttempt } from './observe.ts'
import type { OperationLimit } from './operation-limit.ts'
import { prepare, type PrepareSettings } from './prepare.ts'
import { readThrough, type ReadSettings } from './cache/read-through.ts'
import type { ResponseTypes } from './cache/response-cache.ts'
import type { RetryBudget } from '../retry/retry-budget.ts'
import { retryPresets, type RetryOptions } from '../retry/retry-policy.ts'
import { retrying } from '../retry/retry.ts'
import type { Args } from '../templates/template.ts'
import type { ResponseTransformer } from './transformer.ts'
import type { WireRequest } from '../http/transport.ts'
import { isStreamed } from '../bodies/wire-body.ts'
import { redactReason, tellFailure, type ToldFailure } from '../http/upstream-details.ts'

export interface CallSettings {
  readonly connector: string
  readonly random: () => number
  readonly retry: RetryOptions
  readonly budget: RetryBudget
  readonly breaker: Breaker
  readonly totalTimeoutMs: number
  readonly attempting: Omit<AttemptSettings, 'answer' | 'onBody' | 'onRedirect'>
  readonly preparing: PrepareSettings
  readonly reading: ReadSettings
  readonly forward: ForwardHeaders | undefined
  readonly transformer: ResponseTransformer | undefined
  readonly operationLimit: OperationLimit
  readonly logBody: LogBody | undefined
  readonly observe: ObserveAttempt | undefined
  readonly exposeErrors: boolean
  readonly announcer: MutationAnnouncer
  /** What a response of an endpoint is made of, as the schema of an operation says where there is one. */
  readonly typesOf: (endpoint: CompiledEndpoint, schema: GraphQLSchema | undefined) => ResponseTypes
}

/** Whatever a caller's surroundings add to a call. */
export interface CallScope {
  /** Ends the call, its waits included. */
  readonly signal?: AbortSignal | undefined
  /** The GraphQL context of the operation, when there is one. */
  readonly context?: unknown
  /** An object that is the same for all calls of one operation's execution. */
  readonly operation?: object | undefined
}

/** {@link CallScope} of a GraphQL field: several things may end its call, unless it is a mutation's. */
export interface FieldScope extends CallScope {
  readonly signals?: readonly AbortSignal[] | undefined
  /** That of the operation. */
  readonly schema?: GraphQLSchema | undefined
  /** The field of the schema that a mutation is. */
  readonly place?: (() => MutationField | undefined) | undefined
}

export type Call = (args: Args, scope: FieldScope) => Promise<unknown>

/** The facts of one call that its error may tell. */
interface Progress {
  attempts: number
  /** As the endpoint's templates have it, and as it went out. */
  rendered: WireRequest | undefined
  sent: WireRequest | undefined
  /** What all attempts together have done: one of which nobody knows is not undone by another that was refused. */
  outcome: MutationOutcome
}

/** One endpoint, ready to be called. */
export function createCall(endpoint: CompiledEndpoint, settings: CallSettings): Call {
  const { connector, transformer, operationLimit, exposeErrors, announcer } = settings
  const { counters } = settings.reading
  const changes = compileAnnouncement(endpoint)

  async function run(args: Args, scope: FieldScope, progress: Progress): Promise<unknown> {
    counters.calls++
    const leaving = followSignals(signalsOf(endpoint, scope))
    try {
      operationLimit(scope.operation)
      const response = await load(endpoint, args, scope, leaving.ending, settings, progress)
      progress.outcome = 'done'
      const data = endpoint.extract(response.body)
      const { context } = scope
      if (transformer)
        return await transformer({ ...response, data }, { connector, endpoint: endpoint.name, args, context })
      return checkedAnswer(endpoint, data, response)
    } catch (error) {
      counters.failures++
      const told = exposeErrors ? tellProgress(endpoint, args, settings, progress, error) : undefined
      throw explain(told ? redactReason(error, told.redact) : error, {
        connector,
        endpoint: endpoint.name,
        attempts: progress.attempts || undefined,
        isExposed: exposeErrors,
        upstream: told?.upstream,
      })
    } finally {
      leaving.release()
    }
  }

  return (args, scope) => {
    const progress: Progress = { attempts: 0, rendered: undefined, sent: undefined, outcome: 'refused' }
    const call = (): Promise<unknown> => run(args, scope, progress)
    if (!endpoint.isMutation) return call()
    return announcer.run({
      call,
      outcomeOf: () => progress.outcome,
      changes: (result) => changes(args, result, scope.place?.()),
    })
  }
}

function tellProgress(
  endpoint: CompiledEndpoint,
  args: Args,
  { preparing }: CallSettings,
  { rendered, sent }: Progress,
  error: unknown,
): ToldFailure | undefined {
  if (!rendered || !sent) return undefined
  const { home = preparing } = rendered
  return tellFailure({ template: endpoint.declared.path, home, args, rendered, sent }, error)
}

/** A client that leaves ends its reads. What it asked to be changed is changed all the same. */
function signalsOf(
  { isMutation }: CompiledEndpoint,
  { signal, signals }: FieldScope,
): readonly AbortSignal[] {
  if (signals && !isMutation) return signals
  return signal ? [signal] : []
}

async function load(
  endpoint: CompiledEndpoint,
  args: Args,
  scope: FieldScope,
  ending: Ending | undefined,
  settings: CallSettings,
  progress: Progress,
): Promise<RestResponse> {
  const { retry, forward } = settings
  const rendered = endpoint.render(args)
  progress.rendered = rendered
  const forwarded = forward?.(scope.context)
  let request = forwarded ? { ...rendered, headers: { ...rendered.headers, ...forwarded } } : rendered
  if ((request.method === 'POST' || request.method === 'PATCH') && retry.maxRetries > 0)
    request = { ...request, headers: { 'idempotency-key': randomUUID(), ...request.headers } }
  const calling = { endpoint, args, context: scope.context, settings, progress }
  if (endpoint.method !== 'GET') return send(calling, request, undefined, ending)

  // Credentials decide who may share an answer, and interceptors may add them: the first attempt is prepared early.
  const prepared = await prepare(request, infoOf(calling, 1, ending ?? new Ending()), settings.preparing)
  const key = cacheKey(endpoint.name, args, rendered, prepared)
  const isFresh = isLive(scope.context)
  return readThrough(
    key,
    () => settings.typesOf(endpoint, scope.schema),
    { isFresh, ending },
    (until) => send(calling, request, prepared, until),
    settings.reading,
  )
}

interface Calling {
  readonly endpoint: CompiledEndpoint
  readonly args: Args
  readonly context: unknown
  readonly settings: CallSettings
  readonly progress: Progress
}

/** All the attempts of one call. */
async function send(
  calling: Calling,
  request: WireRequest,
  prepared: WireRequest | undefined,
  ending: Ending | undefined,
): Promise<RestResponse> {
  const { endpoint, settings, progress } = calling
  const { retry, random, budget, breaker, totalTimeoutMs, preparing } = settings
  const { clock } = settings.attempting
  const { counters } = settings.reading
  // The first attempt's deadline is the earlier one; the whole call's matters once there is another.
  const total = new Deadline(clock, totalTimeoutMs, ending, endpoint.timeoutMs < totalTimeoutMs)
  const endsAt = clock.now() + totalTimeoutMs
  budget.call()
  try {
    return await retrying(
      async (number) => {
        const deadline = new Deadline(clock, endpoint.timeoutMs, total)
        const info = infoOf(calling, number, deadline)
        try {
          const outgoing = (number === 1 && prepared) || (await prepare(request, info, preparing))
          progress.sent = outgoing
          return await breaker.run(() => {
            progress.attempts = number
            counters.requests++
            if (number > 1) counters.retries++
            return observed(calling, info, outgoing, deadline)
          })
        } finally {
          deadline.stop()
        }
      },
      {
        // What was read as it was sent is gone.
        policy: isStreamed(request.body) && !request.body.isRepeatable ? retryPresets.disabled : retry,
        method: endpoint.method,
        clock,
        random,
        ending: total,
        endsAt,
        allow() {
          if (!budget.take()) return false
          total.startTimer(Math.max(0, endsAt - clock.now()))
          return true
        },
      },
    )
  } finally {
    total.stop()
  }
}

async function observed(
  { endpoint, settings, progress }: Calling,
  info: CallInfo,
  request: WireRequest,
  ending: Ending,
): Promise<RestResponse> {
  const { answer } = endpoint.declared
  const { logBody, observe, attempting } = settings
  const facts = { connector: info.connector, endpoint: info.endpoint, attempt: info.attempt }
  if (logBody && typeof request.body === 'string')
    logBody(
      'REST request',
      { ...facts, method: request.method },
      request.headers['content-type'],
      request.body,
    )
  const onBody =
    logBody &&
    ((status: number, contentType: string | undefined, body: string): void =>
      logBody('REST response', { ...facts, status }, contentType, body))
  const onRedirect = (): void => void (progress.outcome = 'unknown')
  const ended = observe?.(info)
  try {
    const response = await attempt(request, ending, { ...attempting, answer, onBody, onRedirect })
    ended?.({ status: response.status })
    return response
  } catch (error) {
    if (outcomeOf(error) === 'unknown') progress.outcome = 'unknown'
    const status = error instanceof BadStatus ? error.status : undefined
    const hasLeft = ending.hasEnded && !(ending.reason instanceof DeadlineExceeded)
    ended?.({ status, error, callerLeft: status === undefined && hasLeft })
    throw error
  }
}

function infoOf({ endpoint, args, context, settings }: Calling, number: number, ending: Ending): CallInfo {
  return {
    connector: settings.connector,
    endpoint: endpoint.name,
    args,
    attempt: number,
    context,
    get signal() {
      return ending.signal
    },
  }
}

/** Set on the context by live-query for each re-execution. */
function isLive(context: unknown): boolean {
  return (
    typeof context === 'object' && context !== null && 'liveQuery' in context && Boolean(context.liveQuery)
  )
}
