import type { IncomingMessage } from 'node:http'
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
  /** Returns the path for the path of the GraphQL endpoint. */
  pathFor(endpoint: string): string
  /** Receives the context of each request to the path. */
  enter(context: object): void
}

/** Method and headers of a Node request. */
export type RequestHead = Pick<IncomingMessage, 'method' | 'headers'>

/**
 * Declares how a plugin handles operations. A plugin provides it as its `behaviour` property. All properties are
 * optional. The pipeline calls functions of the same name in the order of the plugins. Hooks of plugins without a
 * behaviour run at their own positions in that order.
 *
 * `context`, `lifts`, `refuse`, `execute`, `plan`, `deliver`, `onPart` and `refused` apply to every operation, on
 * every transport.
 *
 * The remaining functions apply to the path for cached operations in node-handler. That path skips the hooks of
 * plugins with a behaviour, including `onParse` and `onValidate`, so these functions must have the same effect as the
 * hooks. Until `admit` returns, a request can still move to the path with all hooks, with the same context. After
 * `begin` was called, the request stays on the path for cached operations, also after errors.
 */
export interface Behaviour {
  /** Identifies the behaviour for code that composes servers. A server has at most one behaviour of each name. */
  readonly name?: string | undefined
  /** Adds to the context what `onContextBuilding` of the plugin adds. It is called if that hook does not run. */
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

  /** Returns whether requests for an operation can take the path for cached operations. Called once per operation. */
  admits?(prepared: PreparedDocument): boolean
  /** A second path for POST requests to the GraphQL endpoint, which `onRequest` of the plugin serves otherwise. */
  readonly alias?: EndpointAlias | undefined
  /** Returns whether the headers of a request allow this path. The request is a JSON POST or a GET. */
  accepts?(request: RequestHead): boolean
  /** Receives the request before the hooks of all plugins. */
  receive?(request: Request, context: object): void
  /**
   * Returns the media type of complete responses if `Accept` names more than JSON, as `onResultProcess` of
   * the plugin does. Other plugins choose if the result is `undefined`. The request goes through all hooks if
   * all plugins return `undefined`.
   */
  mediaTypeOf?(accept: string): string | undefined
  /** Throws if a chunked body is too large. Receives the number of bytes that have arrived. */
  checkBodySize?(bytes: number): void
  /** Identifies the client. `false` or a rejection sends the request through all hooks, which report the error. */
  identify?(request: Request, context: Record<string, unknown>): MaybePromise<boolean>
  /**
   * Replaces the id of a persisted document by its text. `target` is the target of a GET request, whose `params` contain
   * only the parameters that Yoga reads. Returns `undefined` if the request contains no id.
   */
  withText?(
    params: Readonly<Record<string, unknown>>,
    target: string | undefined,
  ): Readonly<Record<string, unknown>> | undefined
  /**
   * Returns whether the body of a request allows this path. The result is cached for equal bodies. A GET has no body;
   * its parameters are in the target.
   */
  acceptsBody?(body: Buffer | undefined, params: OperationParams): boolean
  /**
   * Decides whether a request can execute, before the hooks of plugins without a behaviour receive its parameters.
   * `false` or a rejection sends the request through all hooks. `onParams` of this plugin then runs regardless of the
   * earlier result, and must refuse the request if necessary.
   */
  admit?(request: Request, context: Record<string, unknown>): MaybePromise<boolean>
  /** Stores data in the context, as `onRequest` of the plugin does. */
  begin?(operation: Operation): void
  /**
   * Serializes a result in parts, as `onResultProcess` does. `undefined` means that the plugin does not handle the
   * stream. The hooks handle it if all plugins return `undefined`.
   */
  stream?(operation: Operation, parts: AsyncIterable<unknown>): PartStream | undefined
  /**
   * Updates the response as `onResponse` does. It is called before the first part of a stream. Returns 304 if the
   * client's copy is current; the response is then sent without a body.
   */
  respond?(operation: Operation, response: ResponseHead): 304 | void
}
