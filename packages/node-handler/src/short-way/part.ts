import type { IncomingMessage } from 'node:http'
import type {
  DocumentNode,
  ExecutionArgs,
  ExecutionResult,
  GraphQLSchema,
  OperationDefinitionNode,
} from 'graphql'
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
  /** Whether plugins that say nothing of the short way may look at what it comes to, or copy it. */
  readonly isSeenByOthers: boolean
  /**
   * Executes in place of Yoga's own executor, and of every plan, where a part has put it there; what it gives may be a
   * stream of parts.
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

/** An answer that is about to go out. */
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
 * They are called in this order, and those of one step in the order of the plugins; hooks of plugins that say nothing of
 * the short way run at the step that they belong to. Up to `admitsCall` a request may go on by the ordinary way, with the
 * same context; from `begin` on it ends here, whatever becomes of it.
 */
export interface ShortWayPart {
  /** Whether requests for an operation may go the short way; asked once, when it went through all hooks. */
  admits?(operation: KnownOperation): boolean
  /** Whether this request may, by its head: a POST of JSON, or a GET. */
  accepts?(request: IncomingMessage): boolean
  /**
   * How a whole answer is marked for an `Accept` that names more than JSON, as `onResultProcess` says; undefined: that is
   * not for this plugin to say. Nobody says: the ordinary way.
   */
  mediaTypeOf?(accept: string): string | undefined
  /** Finds out who asks; false, or a rejection: the ordinary way, which says what is wrong. */
  identify?(request: Request, context: Record<string, unknown>): MaybePromise<boolean>
  /** Puts the text of a document in the place of its id; undefined: there is no id in it. */
  withText?(params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined
  /**
   * Whether it may by its body alone, so that equal ones are asked about once; what is wrong is said on the ordinary way.
   * A GET has no body: its parameters stand in the target.
   */
  acceptsBody?(body: Buffer | undefined, params: ShortParams): boolean
  /**
   * Lets a request for one operation in, before other people's hooks see its parameters; false, or a rejection: the
   * ordinary way. There `onParams` of this plugin runs, whatever came of it, and refuses what was not let in.
   */
  admit?(request: Request, context: Record<string, unknown>): MaybePromise<boolean>
  /** Whether it may with what is known of it now. */
  admitsCall?(call: ShortCall): boolean
  /** What `onRequest` and `onContextBuilding` do: notes on the context. */
  begin?(call: ShortCall): void
  /** Stands around the execution, as what `onParams` and `onExecute` put there does. */
  execute?(call: ShortCall, next: NextExecutor): MaybePromise<unknown>
  /** Executes, behind all that stands around the execution; `next` is what executes otherwise. */
  plan?(call: ShortCall, next: NextExecutor): MaybePromise<unknown>
  /** Makes a stream of parts of a whole result that somebody answered with, for a client that takes parts. */
  deliver?(call: ShortCall, result: ExecutionResult): unknown
  /** Hears of a whole result, its errors masked, as `onExecutionResult` does. */
  result?(call: ShortCall, result: ExecutionResult): void
  /** Writes what `executor` gave, as `onResultProcess` does; undefined: not this. Nobody does: the hooks do. */
  stream?(call: ShortCall, parts: AsyncIterable<unknown>): ShortStream | undefined
  /** What `onNext` of an execution's end does with each part of a stream. */
  onPart?(call: ShortCall, part: unknown): void
  /** What `onResponse` does for the answer; for one in parts before the first of them. */
  respond?(call: ShortCall, response: ShortResponse): void
}
