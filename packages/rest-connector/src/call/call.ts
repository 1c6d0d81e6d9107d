import { randomUUID } from 'node:crypto'
import { type Abortable, isPromise, unlessAborted, Ending } from '@vinyasa/core'
import { type GraphQLSchema, GraphQLError } from 'graphql'
import { checkedAnswer } from './checked-answer.ts'
import { compileAnnouncement, type MutationField } from './announce.ts'
import { AttemptInfo, type CallSettings, type Progress, type Calling } from './calling.ts'
import { type RestResponse, attempt, BadStatus, type AttemptCall } from '../http/attempt.ts'
import { cacheKey } from '../http/cache-key.ts'
import { Deadline, followEndings, DeadlineExceeded, wait } from '../http/ending.ts'
import type { CompiledEndpoint } from '../declare/endpoint.ts'
import { prepare, type PrepareSettings } from './prepare.ts'
import { readThrough } from './cache/read-through.ts'
import type { Args } from '../templates/template.ts'
import type { WireRequest } from '../http/transport.ts'
import { tellFailure } from '../http/upstream-details.ts'
import { isStreamed, SentBodyFailed } from '../bodies/wire-body.ts'
import type { CallInfo } from '../interceptors/interceptor.ts'
import { faultOf, isCircuitOpen } from '../retry/faults.ts'
import { retryPresets, backoffCeiling, parseRetryAfter, type RetryOptions } from '../retry/retry-policy.ts'
import type { LogBody } from './log-bodies.ts'
import { single } from '../http/header-values.ts'
import type { HttpMethod } from '../http/http-method.ts'
import { errorAt, restError, type RestErrorCode, type RestErrorFacts } from '../errors.ts'
import { BadResponse, isNetworkError, NoPlace, RedirectRefused, ResponseTooLarge } from '../http/failures.ts'

/** Turns whatever ended a call into the error that a client may read. */
export function explain(cause: unknown, facts: RestErrorFacts): GraphQLError {
  const { code } = faultOf(cause)
  const { connector, endpoint, isExposed } = facts
  const who = isExposed ? `REST endpoint "${endpoint}"` : 'The upstream'
  if (cause instanceof GraphQLError) {
    const { message, extensions } = cause
    if (Object.hasOwn(extensions, 'connector')) return cause
    // An error of this package or of an interceptor that was thrown before the endpoint was known.
    return errorAt(message, extensions, { connector, endpoint, isExposed, cause: cause.cause ?? cause })
  }
  const told = (message: string, as: RestErrorCode = code, status?: number): GraphQLError =>
    restError(as, message, { ...facts, status, cause })
  if (cause instanceof BadStatus)
    return told(`${who} responded with status ${cause.status}.`, code, cause.status)
  if (cause instanceof DeadlineExceeded) return told(`${who} did not respond within ${cause.ms} ms.`)
  if (cause instanceof ResponseTooLarge)
    return told(
      `${who} sent a response that exceeds the limit of ${cause.limit} bytes.`,
      'REST_RESPONSE_TOO_LARGE',
    )
  if (cause instanceof BadResponse) {
    // The reason may quote the upstream.
    const reason = isExposed ? `: ${cause.message}` : ''
    return told(`${who} sent an invalid response${reason}.`, 'REST_BAD_RESPONSE')
  }
  if (cause instanceof RedirectRefused)
    return told(`${who} sent a redirect that was refused: ${cause.message}.`, 'REST_REDIRECT_REFUSED')
  if (cause instanceof SentBodyFailed)
    return told('An uploaded file could not be read completely. Send the request again.', 'BAD_USER_INPUT')
  if (cause instanceof NoPlace) return told(cause.message)
  if (isCircuitOpen(cause))
    return told(`${who} was not called, because the circuit breaker is open after too many failed calls.`)
  if (cause instanceof Error && cause.name === 'AbortError')
    return told('The call was cancelled.', 'CANCELLED')
  return told(isNetworkError(cause) ? `${who} cannot be reached.` : `${who} failed unexpectedly.`)
}

const IDEMPOTENT: ReadonlySet<HttpMethod> = new Set(['GET', 'PUT', 'DELETE'])

/** Milliseconds until the next attempt. Undefined if the call must not be retried, or if `endsAt` is too soon. */
function retryDelay(
  error: unknown,
  attempt: number,
  policy: RetryOptions,
  { endpoint, settings }: Calling,
  endsAt: number,
): number | undefined {
  const isWorthIt =
    error instanceof BadStatus
      ? policy.retryStatuses.includes(error.status)
      : faultOf(error).repeats === 'idempotent' && IDEMPOTENT.has(endpoint.method)
  if (attempt > policy.maxRetries || !isWorthIt) return undefined
  const { clock } = settings.attempting
  const header = error instanceof BadStatus ? single(error.headers['retry-after']) : undefined
  const asked = parseRetryAfter(header, clock.wallNow())
  // Sooner would be refused again; what is longer than the call may take is not waited for at all.
  const delay = asked ?? settings.random() * backoffCeiling(policy, attempt)
  return clock.now() + delay >= endsAt ? undefined : delay
}

/** All the attempts of one call. */
async function send(
  calling: Calling,
  request: WireRequest,
  prepared: WireRequest | undefined,
  ending: Ending | undefined,
): Promise<RestResponse> {
  const { endpoint, settings, progress } = calling
  const { budget, breaker, preparing } = settings
  const { totalTimeoutMs = Math.max(60_000, endpoint.timeoutMs) } = settings
  const { clock } = settings.attempting
  const { counters } = settings.reading
  const endsAt = clock.now() + totalTimeoutMs
  // The first attempt's deadline stands in for it.
  let whole: Deadline | undefined
  let isRenewed = false
  const { body } = request
  // A body that was read as it was sent is gone, and cannot be sent again.
  const isRepeatable = !isStreamed(body) || body.isRepeatable
  const policy = isRepeatable ? settings.retry : retryPresets.disabled
  budget.call()
  try {
    for (let number = 1; ; number++) {
      const isWhole = !whole && totalTimeoutMs <= endpoint.timeoutMs
      const deadline = new Deadline(clock, isWhole ? totalTimeoutMs : endpoint.timeoutMs, whole ?? ending)
      let failure: unknown
      try {
        const info = new AttemptInfo(calling, number, deadline)
        const preparation =
          (number === 1 && prepared) || prepare(request, () => info, endpoint.home, preparing)
        const outgoing = isPromise(preparation)
          ? await unlessAborted(preparation, deadline.signal)
          : preparation
        progress.sent = outgoing
        return await breaker.run(() => {
          progress.attempts = number
          counters.requests++
          if (number > 1) counters.retries++
          return observed(calling, info, outgoing, deadline)
        })
      } catch (error) {
        failure = error
      } finally {
        deadline.stop()
      }
      const isOver = (whole ?? (isWhole ? deadline : ending))?.aborted
      // The upstream has done nothing, and each credential is renewed once: neither the policy nor the budget is asked.
      const mayRenew: boolean = renewsCredential(failure, progress, preparing) && isRepeatable && !isRenewed
      isRenewed ||= mayRenew
      const delay = isOver ? undefined : mayRenew ? 0 : retryDelay(failure, number, policy, calling, endsAt)
      if (delay === undefined || (!mayRenew && !budget.take())) throw failure
      whole ??= new Deadline(clock, totalTimeoutMs, ending, Math.max(0, endsAt - clock.now()))
      await wait(clock, delay, whole)
    }
  } finally {
    whole?.stop()
  }
}

function renewsCredential(failure: unknown, { sent }: Progress, { interceptors }: PrepareSettings): boolean {
  if (faultOf(failure).code !== 'UNAUTHENTICATED') return false
  return interceptors.filter((one) => one.onUnauthorized?.(sent?.headers ?? {})).length > 0
}

async function observed(
  { endpoint, settings, progress, isConditional, caller }: Calling,
  info: CallInfo,
  prepared: WireRequest,
  ending: Ending,
): Promise<RestResponse> {
  const { answer } = endpoint.declared
  const { logBody, observe, attempting } = settings
  const onBody = logBody && loggedBodies(logBody, info, prepared)
  const onRedirect = (): void => void (progress.outcome = 'unknown')
  const ended = observe?.(info)
  const { headers } = prepared
  const request = ended?.headers ? { ...prepared, headers: { ...headers, ...ended.headers } } : prepared
  const call = { answer, isConditional, caller, onBody, onRedirect }
  const { within } = ended ?? {}
  try {
    const response = await (within
      ? within(() => attempt(request, ending, attempting, call))
      : attempt(request, ending, attempting, call))
    ended?.({ status: response.status })
    return response
  } catch (error) {
    const { outcome, code, isCounted } = faultOf(error)
    if (outcome === 'unknown') progress.outcome = 'unknown'
    const status = error instanceof BadStatus ? error.status : undefined
    const hasLeft = ending.aborted && !(ending.reason instanceof DeadlineExceeded)
    const isUnavailable = isCounted && (code === 'SERVICE_UNAVAILABLE' || code === 'TIMEOUT')
    ended?.({ status, error, isUnavailable, callerLeft: status === undefined && hasLeft })
    throw error
  }
}

/** Logs the body of a request, and returns what logs that of its answer. */
function loggedBodies(
  logBody: LogBody,
  info: CallInfo,
  sent: WireRequest,
): NonNullable<AttemptCall['onBody']> {
  const facts = { connector: info.connector, endpoint: info.endpoint, attempt: info.attempt }
  const { method, headers, body } = sent
  if (typeof body === 'string') logBody('REST request', { ...facts, method }, headers['content-type'], body)
  return (status, contentType, body) => logBody('REST response', { ...facts, status }, contentType, body)
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
  readonly endings?: readonly Abortable[] | undefined
  /** That of the operation. */
  readonly schema?: GraphQLSchema | undefined
  /** The field of the schema that a mutation is. */
  readonly place?: (() => MutationField | undefined) | undefined
  /** Gives the answer in the endpoint's envelope, where it has one. */
  readonly isEnveloped?: boolean | undefined
  /** Path and query to ask for, instead of what the arguments make. */
  readonly path?: string | undefined
}

export type Call = (args: Args, scope: FieldScope) => Promise<unknown>

export interface Callable {
  readonly endpoint: CompiledEndpoint
  readonly call: Call
}

/** One endpoint, ready to be called. */
export function createCall(endpoint: CompiledEndpoint, settings: CallSettings): Call {
  const { connector, transformer, operationLimit, exposeErrors, announcer } = settings
  const { counters } = settings.reading
  const home = endpoint.home ?? settings.preparing
  const changes = compileAnnouncement(endpoint, settings.named)

  async function run(args: Args, scope: FieldScope, progress: Progress): Promise<unknown> {
    counters.calls++
    const leaving = followEndings(endingsOf(endpoint, scope))
    try {
      operationLimit(scope.operation)
      const response = await load(endpoint, args, scope, leaving.ending, settings, progress)
      progress.outcome = 'done'
      if (!endpoint.isMutation) settings.limit?.(response, scope.context)
      const data = endpoint.extract(response.body)
      const { context } = scope
      const answer = transformer
        ? await transformer({ ...response, data }, { connector, endpoint: endpoint.name, args, context })
        : checkedAnswer(endpoint, data, response)
      if (!endpoint.envelope || !scope.isEnveloped) return answer
      const url = new URL(progress.rendered?.path ?? '', home.base.origin)
      return endpoint.envelope.put(checkedAnswer(endpoint, answer), { args, response, url, home })
    } catch (error) {
      counters.failures++
      const { rendered, sent } = progress
      const told =
        exposeErrors && rendered && sent
          ? tellFailure(home, endpoint.declared.path, args, rendered, sent, error)
          : undefined
      throw explain(told ? told.cause : error, {
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
    if (!endpoint.isMutation) return run(args, scope, progress)
    return announcer.run({
      call: () => run(args, scope, progress),
      outcomeOf: () => progress.outcome,
      changes: (result) => changes(args, result, scope.place?.()),
    })
  }
}

/** A client that leaves ends its reads. What it asked to be changed is changed all the same. */
function endingsOf({ isMutation }: CompiledEndpoint, { signal, endings }: FieldScope): readonly Abortable[] {
  if (endings && !isMutation) return endings
  return signal ? [signal] : []
}

function load(
  endpoint: CompiledEndpoint,
  args: Args,
  scope: FieldScope,
  ending: Ending | undefined,
  settings: CallSettings,
  progress: Progress,
): Promise<RestResponse> {
  const { retry, forward } = settings
  const made = endpoint.render(args)
  const { path = made.path } = scope
  const rendered = path === made.path ? made : { ...made, path }
  progress.rendered = rendered
  const { context } = scope
  const forwarded = forward?.(context)
  let request = forwarded ? { ...rendered, headers: { ...rendered.headers, ...forwarded } } : rendered
  if ((request.method === 'POST' || request.method === 'PATCH') && retry.maxRetries > 0)
    request = { ...request, headers: { 'idempotency-key': randomUUID(), ...request.headers } }
  const calling = { endpoint, args, context, caller: context, settings, progress, isConditional: false }
  if (endpoint.method !== 'GET') return send(calling, request, undefined, ending)

  // Credentials decide who may share an answer, and interceptors may add them: the first attempt is prepared early.
  if (settings.preparing.interceptors.length === 0) return read(request)
  const until = new Ending()
  const preparing = prepare(
    request,
    () => new AttemptInfo(calling, 1, until),
    endpoint.home,
    settings.preparing,
  )
  if (!isPromise(preparing)) return read(preparing)
  const deadline = new Deadline(settings.attempting.clock, endpoint.timeoutMs, ending)
  deadline.onAbort(() => until.abort(deadline.reason))
  return unlessAborted(preparing, deadline.signal)
    .finally(() => deadline.stop())
    .then(read)

  function read(prepared: WireRequest): Promise<RestResponse> {
    // No argument has an empty name.
    const keyed = scope.path === undefined ? args : { ...args, '': scope.path }
    const key = cacheKey(endpoint.name, keyed, rendered, prepared)
    return readThrough(
      key,
      () => settings.typesOf(endpoint, scope.schema),
      { ending, context },
      (until, callers, validators) => {
        const isConditional = validators !== undefined && !asksForMore(prepared)
        const asked = { ...calling, caller: callers ?? context, isConditional }
        return isConditional
          ? send(asked, withHeaders(request, validators), withHeaders(prepared, validators), until)
          : send(asked, request, prepared, until)
      },
      settings.reading,
    )
  }
}

/** One that asks for something else than the whole answer, as the endpoint or an interceptor has it. */
function asksForMore({ headers }: WireRequest): boolean {
  return ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'range'].some(
    (name) => headers[name] !== undefined,
  )
}

function withHeaders(request: WireRequest, headers: Readonly<Record<string, string>>): WireRequest {
  return { ...request, headers: { ...request.headers, ...headers } }
}
