import type { IncomingMessage } from 'node:http'
import type { DocumentNode, ExecutionArgs, GraphQLSchema, OperationDefinitionNode } from 'graphql'
import type { MaybePromise } from '@vinyasa/base'

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
  /**
   * One object for all requests with the very same body, or for GETs target, to remember by what follows from it; if it
   * came before.
   */
  readonly sameBody: object | undefined
  /** Whether nobody answered in place of the execution. */
  wasExecuted: boolean
  /**
   * Executes in place of Yoga's own executor, where a part has put it there in `begin`; what it gives may be a stream of
   * parts. Who answers in place of Yoga's does not answer in place of this one.
   */
  executor?: ((args: ExecutionArgs) => MaybePromise<unknown>) | undefined
}

/** One part of an answer that comes in several. */
export interface ShortStreamPart {
  readonly text: string
  readonly isLast: boolean
  /** What the text was made of. */
  readonly part?: unknown
}

/** How an answer in parts goes out, with status 200. */
export interface ShortStream {
  readonly headers: Readonly<Record<string, string>>
  /** The next part; never rejects. */
  next(): Promise<ShortStreamPart>
  /** Called when nobody wants more, and after the last part; may be called again. */
  leave(): void
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
  /** Whether this request may, by its head: a POST of JSON, or a GET. */
  accepts?(request: IncomingMessage): boolean
  /**
   * Whether it may by its body alone, so that equal ones are asked about once; what is wrong is said on the ordinary way.
   * A GET has no body: its parameters stand in the target.
   */
  acceptsBody?(body: Buffer | undefined, params: ShortParams): boolean
  /**
   * How a whole answer is marked for an `Accept` that names more than JSON, as `onResultProcess` says; undefined: that is
   * not for this plugin to say. Nobody says: the ordinary way.
   */
  mediaTypeOf?(accept: string): string | undefined
  /** What `onRequest` and `onContextBuilding` do: notes on the context. */
  begin?(call: ShortCall): void
  /** Stands around the execution, as what `onParams` and `onExecute` put there does. Undefined: the ordinary way. */
  execute?(call: ShortCall, next: NextExecutor): MaybePromise<unknown>
  /** Writes what `executor` gave, as `onResultProcess` does; undefined: not this. Nobody does: the ordinary way. */
  stream?(call: ShortCall, parts: AsyncIterable<unknown>): ShortStream | undefined
  /** What `onNext` of an execution's end does with each part of a stream. */
  onPart?(call: ShortCall, part: unknown): void
  /** What `onResponse` does for such an answer; for one in parts before the first of them. */
  respond?(call: ShortCall, response: ShortResponse): void
}
