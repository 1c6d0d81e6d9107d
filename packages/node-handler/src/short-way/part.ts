import type { IncomingMessage } from 'node:http'
import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql'
import type { MaybePromise } from '../maybe-promise.ts'

/** A query that has gone through every hook of the server once, and was valid. */
export interface KnownOperation {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly definition: OperationDefinitionNode
  readonly operationName: string | null | undefined
}

/** What a request asks for, as Yoga's parameters. */
export interface ShortParams {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  readonly operationName?: string | null | undefined
}

/** One request for a known operation. */
export interface ShortCall {
  readonly operation: KnownOperation
  readonly params: ShortParams
  readonly request: Request
  /** What is the GraphQL context on every other way, too. */
  readonly context: Record<string, unknown>
  /** One object for all requests with the very same body, to remember by what follows from it; if it came before. */
  readonly sameBody: object | undefined
  /** Whether nobody answered in place of the execution. */
  wasExecuted: boolean
}

/** An answer that is about to go out with status 200. */
export interface ShortResponse {
  readonly status: number
  readonly headers: ShortHeaders
}

/** Names in any case. */
export interface ShortHeaders {
  get(name: string): string | null
  has(name: string): boolean
  set(name: string, value: string): void
  append(name: string, value: string): void
  delete(name: string): void
}

export type NextExecutor = (call: ShortCall) => MaybePromise<unknown>

/**
 * What a plugin does on the short way, in place of its hooks, which do not run there: its member `shortWay`. All members
 * are optional; an empty object says that the plugin wants nothing of requests whose operation is known, as one does
 * that looks at documents, at errors or at other paths alone.
 *
 * The short way is left for the ordinary one, with the same context, wherever something is not as usual: for an answer
 * with errors, the hooks run as if the execution happened then. So what `begin` noted may be there when they do.
 */
export interface ShortWayPart {
  /** Whether requests for an operation may go the short way; asked once, when it went through all hooks. */
  admits?(operation: KnownOperation): boolean
  /** Whether this request may, by its head. */
  accepts?(request: IncomingMessage): boolean
  /** Whether it may by its body alone, so that equal ones are asked about once; what is wrong is said on the ordinary way. */
  acceptsBody?(body: Buffer, params: ShortParams): boolean
  /** What `onRequest` and `onContextBuilding` do: notes on the context. */
  begin?(call: ShortCall): void
  /** Stands around the execution, as what `onParams` and `onExecute` put there does. Undefined: the ordinary way. */
  execute?(call: ShortCall, next: NextExecutor): MaybePromise<unknown>
  /** What `onResponse` does for such an answer. */
  respond?(call: ShortCall, response: ShortResponse): void
}
