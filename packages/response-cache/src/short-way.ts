import type { DocumentNode, GraphQLSchema } from 'graphql'
import type { GraphQLParams } from 'graphql-yoga'
import type { OperationState } from './answer/operation-state.ts'
import type { Pipeline } from './answer/pipeline.ts'
import { runThrough } from './answer/run-through.ts'
import type { DocumentProfile } from './document/document-profile.ts'
import type { CachedResponse, OperationReport } from './http/cache-headers.ts'
import type { HandlerPayload, ParamsHandler } from './answer/refresh.ts'
import { createSlot } from './slot.ts'
import { isPromise } from '@vinyasa/base'

interface KnownOperation {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operationName: string | null | undefined
}

/** One request for a query that went through every hook before. */
export interface ShortCall {
  readonly operation: KnownOperation
  readonly params: GraphQLParams
  readonly request: Request
  readonly context: Record<string, unknown>
  /** One object for all requests with the very same body. */
  readonly sameBody?: object | undefined
  /** Whether other plugins may look at the answer. */
  readonly isSeenByOthers: boolean
}

/** Of Node's request. */
interface RequestHead {
  readonly method?: string | undefined
  readonly headers: Readonly<Record<string, unknown>>
}

/** What node-handler calls in place of the hooks. */
export interface ShortWay {
  admits(operation: KnownOperation): boolean
  accepts(request: RequestHead): boolean
  execute<Call extends ShortCall>(call: Call, next: (call: Call) => unknown): unknown
  respond(call: { readonly request: Request }, response: CachedResponse): void
}

export interface ShortWayOptions {
  readonly pipeline: Pipeline
  /** Runs an operation again behind a stale answer; undefined: nothing stale is answered. */
  readonly refresh: ((payload: HandlerPayload, handler: ParamsHandler) => Promise<void>) | undefined
  readonly answersEarly: () => boolean
  readonly noteReport: (request: Request, report: OperationReport) => void
  readonly setHeaders: (request: Request, response: CachedResponse) => void
}

/** The way of a known query through the cache: the ordinary one's, without what leads there. */
export function createShortWay(options: ShortWayOptions): ShortWay {
  const { pipeline, refresh, answersEarly, noteReport, setHeaders } = options
  const profiles = createSlot<DocumentProfile>()
  /** It has passed parse and validate. */
  function profileOf(operation: KnownOperation): DocumentProfile | undefined {
    const known = profiles.get(operation)
    if (known) return known
    const profile = pipeline.profileOf({ ...operation, context: {} })
    if (profile) profiles.set(operation, profile)
    return profile
  }

  function run<Call extends ShortCall>(
    state: OperationState,
    call: Call,
    next: (call: Call) => unknown,
  ): unknown {
    const { operation, context } = call
    const { schema, document, operationName } = operation
    const execute = (): unknown => runThrough(pipeline, state, () => next(call))
    const answer = pipeline.beforeExecute(state, { schema, document, operationName, context })
    return isPromise(answer) ? answer.then((found) => found ?? execute()) : (answer ?? execute())
  }

  /** Under a request and a context of its own, from here on. */
  function runAgain<Call extends ShortCall>(call: Call, next: (call: Call) => unknown): unknown {
    const { request, params, context } = call
    const report: OperationReport = { outcome: 'BYPASS' }
    return run({ request, params, context, report, isRefresh: true, refresh: undefined }, call, next)
  }

  return {
    admits(operation) {
      const profile = pipeline.profileOf({ ...operation, context: {} })
      return profile !== undefined && !profile.live && !profile.incremental
    },
    // Where the client's copy is still the answer, the hooks say so.
    accepts: ({ method, headers }) => method !== 'GET' || headers['if-none-match'] === undefined,
    execute(call, next) {
      const { request, params, context, sameBody, isSeenByOthers } = call
      const state: OperationState = {
        request,
        params,
        context,
        sameBody,
        isShort: !isSeenByOthers,
        report: { outcome: 'BYPASS' },
        isRefresh: false,
        refresh: refresh && (() => refresh(call, (again) => runAgain({ ...call, ...again }, next))),
      }
      noteReport(request, state.report)
      const hit = answersEarly()
        ? pipeline.findEarly(state, call.operation.schema, profileOf(call.operation))
        : undefined
      return hit ? pipeline.answer(state, hit) : run(state, call, next)
    },
    respond: ({ request }, response) => setHeaders(request, response),
  }
}
