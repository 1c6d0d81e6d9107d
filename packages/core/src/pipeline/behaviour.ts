import type { ExecutionResult } from 'graphql'
import type { MaybePromise } from '../index.ts'
import type { Execute, Operation, OperationParams, PreparedDocument } from './operation.ts'
import type { PartStream } from './streams.ts'

/** Status and headers of a response before it is sent. */
export interface ResponseHead {
  readonly status: number
  readonly headers: ResponseHeaders
}

/** Response headers. Names are case-insensitive. */
interface ResponseHeaders {
  get(name: string): string | null
  has(name: string): boolean
  set(name: string, value: string): void
  append(name: string, value: string): void
  delete(name: string): void
}

/** A path that serves POST requests like the GraphQL endpoint. */
export interface EndpointAlias {
  /** Returns the path, and the path of the GraphQL endpoint. It is called after the server was created. */
  paths(): { readonly path: string; readonly endpoint: string }
  /** Receives the context of each request to the path. */
  enter(context: object): void
}

/** Reads the parameters of an operation, or of a batch, from a request. */
export type RequestParser = (request: Request) => MaybePromise<unknown>

/** A request of node-handler. Its body can be read without a stream. */
export interface BufferedRequest extends Request {
  readonly lightState: {
    /** The full request. Its body can have been read as a stream. */
    readonly request: Request | undefined
    /** The complete body, if it is short and has already been received. */
    readonly received: Buffer | undefined
    /** Returns the complete body. It rejects if the body is larger than a limit. */
    read(): Promise<Buffer>
  }
}

/** A request with its context. */
export interface RequestInContext {
  readonly request: Request
  readonly context: Record<string, unknown>
}

/** Parameters as received. Their types are not checked yet. */
export type ReceivedParams = Readonly<{ [Name in keyof OperationParams]?: unknown }>

/**
 * Declares how a plugin handles requests and operations. A plugin provides it as its `behaviour` property; all
 * properties are optional. Functions of the same name run in the order of the plugins, and hooks of plugins without a
 * behaviour run at their own positions in that order.
 *
 * The first group are the steps of an HTTP request. node-handler calls them instead of the plugin's hooks for requests,
 * and `hooksOf` derives these hooks from them for other servers. A function refuses a request by throwing an error.
 */
export interface Behaviour {
  /** Identifies the behaviour for code that composes servers. A server has at most one behaviour of each name. */
  readonly name?: string | undefined

  /** A second path for POST requests to the GraphQL endpoint. */
  readonly alias?: EndpointAlias | undefined
  /** Receives the request. */
  receive?(request: Request, context: Record<string, unknown>): void
  /** Checks the request before its parameters are read, e.g. authenticates the client. */
  checkRequest?(request: Request, context: Record<string, unknown>): MaybePromise<void>
  /** Throws if a body is too large. Receives the announced number of bytes, or the number that has arrived. */
  checkBodySize?(bytes: number): void
  /**
   * Returns the function that reads the parameters, from the function of the earlier plugins. It is not called for a
   * request whose body, or target of a GET, has passed before.
   */
  wrapParser?(parse: RequestParser, request: Request, context: Record<string, unknown>): RequestParser
  /**
   * Checks the parameters, and returns changed parameters. The result must depend only on the parameters and the target
   * of a GET request, because it is cached for equal bodies.
   */
  changeParams?(params: ReceivedParams, request: Request): MaybePromise<ReceivedParams | undefined>
  /** Decides whether the operation can be executed, e.g. by counting the requests of the client. */
  admit?(params: ReceivedParams, request: Request, context: Record<string, unknown>): MaybePromise<void>
  /**
   * Updates the response before it is sent, and before the first part of a stream. Returns 304 if the client's copy is
   * current. The response is then sent without a body.
   */
  respond?(exchange: RequestInContext, response: ResponseHead): 304 | void

  /** Adds values to the context of an operation. */
  context?(context: Record<string, unknown>): void
  /** Returns whether literals of a query or mutation can become variables. Called once per document. */
  lifts?(prepared: PreparedDocument): boolean
  /** Returns a result instead of executing the operation, before any `execute` function runs. `undefined` continues. */
  refuse?(operation: Operation): ExecutionResult | undefined
  /** Wraps the execution of a query or mutation. `next` continues with the execution. */
  execute?(operation: Operation, next: Execute): MaybePromise<unknown>
  /** Executes the operation inside all `execute` functions. `next` calls the next executor. */
  plan?(operation: Operation, next: Execute): MaybePromise<unknown>
  /**
   * Receives every complete result, with masked errors, before other plugins do. Returns the result or a stream of
   * its parts.
   */
  deliver?(operation: Operation, result: ExecutionResult): MaybePromise<unknown>
  /** Receives each part of a stream before its errors are masked. */
  onPart?(operation: Operation, part: unknown): void
  /**
   * Receives the errors of a refused operation with a cached document. The document is invalid, or a validation hook
   * of another plugin refused it.
   */
  refused?(operation: Operation, errors: readonly unknown[]): void

  /**
   * Returns whether node-handler can execute a cached document without `onExecutionResult` and `onResultProcess` of
   * plugins with a behaviour. Called once per document.
   */
  admits?(prepared: PreparedDocument): boolean
  /**
   * Returns the media type of complete responses if `Accept` names more than JSON, as `onResultProcess` of the plugin
   * does. Other plugins choose if the result is `undefined`.
   */
  mediaTypeOf?(accept: string): string | undefined
  /**
   * Serializes a result in parts, as `onResultProcess` does. `undefined` means that the plugin does not handle the
   * stream. The hooks handle it if all plugins return `undefined`.
   */
  stream?(operation: Operation, parts: AsyncIterable<unknown>): PartStream | undefined
}
