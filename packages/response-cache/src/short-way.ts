import type { DocumentNode, GraphQLSchema } from 'graphql'
import type { GraphQLParams } from 'graphql-yoga'
import type { OperationState } from './answer/operation-state.ts'
import type { Pipeline } from './answer/pipeline.ts'
import { runThrough } from './answer/run-through.ts'
import type { DocumentProfile } from './document/document-profile.ts'
import type { CachedResponse, OperationReport } from './http/cache-headers.ts'
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
  readonly isOpen: boolean
  readonly answersEarly: () => boolean
  readonly noteReport: (request: Request, report: OperationReport) => void
  readonly setHeaders: (request: Request, response: CachedResponse) => void
}

/** The way of a known query through the cache: the ordinary one's, without what leads there. */
export function createShortWay(options: ShortWayOptions): ShortWay {
  const { pipeline, isOpen, answersEarly, noteReport, setHeaders } = options
  const profiles = createSlot<DocumentProfile>()
  /** It has passed parse and validate. */
  function profileOf(operation: KnownOperation): DocumentProfile | undefined {
    const known = profiles.get(operation)
    if (known) return known
    const profile = pipeline.profileOf({ ...operation, context: {} })
    if (profile) profiles.set(operation, profile)
    return profile
  }

  return {
    admits(operation) {
      const profile = isOpen ? pipeline.profileOf({ ...operation, context: {} }) : undefined
      return profile !== undefined && !profile.live && !profile.incremental
    },
    // Where the client's copy is still the answer, the hooks say so.
    accepts: ({ method, headers }) => method !== 'GET' || headers['if-none-match'] === undefined,
    execute(call, next) {
      const { request, params, context, operation, sameBody, isSeenByOthers } = call
      const state: OperationState = {
        request,
        params,
        context,
        sameBody,
        isShort: !isSeenByOthers,
        report: { outcome: 'BYPASS' },
        isRefresh: false,
        refresh: undefined,
      }
      noteReport(request, state.report)
      const hit = answersEarly()
        ? pipeline.findEarly(state, operation.schema, profileOf(operation))
        : undefined
      if (hit) return pipeline.answer(state, hit)
      const run = (): unknown => runThrough(pipeline, state, () => next(call))
      const { schema, document, operationName } = operation
      const answer = pipeline.beforeExecute(state, { schema, document, operationName, context })
      return isPromise(answer) ? answer.then((found) => found ?? run()) : (answer ?? run())
    },
    respond: ({ request }, response) => setHeaders(request, response),
  }
}
