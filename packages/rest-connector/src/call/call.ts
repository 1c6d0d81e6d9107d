import { randomUUID } from 'node:crypto'
import { type Abortable, isLiveRun, isPromise, liveMomentOf, unlessAborted, Ending } from '@vinyasa/base'
import type { GraphQLSchema } from 'graphql'
import { checkedAnswer } from './checked-answer.ts'
import { compileAnnouncement, type MutationField } from './announce.ts'
import { AttemptInfo, type CallSettings, type Progress } from './calling.ts'
import type { RestResponse } from '../http/attempt.ts'
import { cacheKey } from '../http/cache-key.ts'
import { Deadline, followEndings } from '../http/ending.ts'
import type { CompiledEndpoint } from '../declare/endpoint.ts'
import { explain } from './explain.ts'
import { prepare } from './prepare.ts'
import { readThrough } from './cache/read-through.ts'
import { send } from './send.ts'
import type { Args } from '../templates/template.ts'
import type { WireRequest } from '../http/transport.ts'
import { redactReason, tellFailure } from '../http/upstream-details.ts'

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
      const { base } = progress.rendered?.home ?? settings.preparing
      const url = new URL(progress.rendered?.path ?? '', base.origin)
      return endpoint.envelope.put(checkedAnswer(endpoint, answer), { args, response, url })
    } catch (error) {
      counters.failures++
      const { rendered, sent } = progress
      const { path: template } = endpoint.declared
      const told =
        exposeErrors && rendered && sent
          ? tellFailure({ template, home: rendered.home ?? settings.preparing, args, rendered, sent }, error)
          : undefined
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
  const preparing = prepare(request, () => new AttemptInfo(calling, 1, until), settings.preparing)
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
      { isFresh: isLiveRun(context), moment: liveMomentOf(context), ending, context },
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
