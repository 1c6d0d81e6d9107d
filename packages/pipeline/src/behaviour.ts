import type { IncomingMessage } from 'node:http'
import type { ExecutionResult } from 'graphql'
import type { MaybePromise } from '@vinyasa/base'
import type { Execute, Operation, OperationParams, PreparedDocument } from './operation.ts'

/** One part of an answer that comes in several. */
export interface StreamPart {
  readonly text: string
  readonly isLast: boolean
  /** The value that the text was made of. */
  readonly part?: unknown
}

/** How an answer in parts goes out, with status 200. */
export interface PartStream {
  readonly headers: Readonly<Record<string, string>>
  /** The next part; never rejects. */
  next(): Promise<StreamPart>
  /** Called when nobody wants more, and after the last part; may be called again. */
  leave(): void
}

/** An answer that is about to go out. */
export interface ResponseHead {
  readonly status: number
  readonly headers: ResponseHeaders
}

/** Names in any case. */
interface ResponseHeaders {
  get(name: string): string | null
  has(name: string): boolean
  set(name: string, value: string): void
  append(name: string, value: string): void
  delete(name: string): void
}

/** The head of Node's request. */
export type RequestHead = Pick<IncomingMessage, 'method' | 'headers'>

/**
 * The part of a plugin that deals with operations: its member `behaviour`. All members are optional. Those of
 * one name are called in the order of the plugins; hooks of plugins without a behaviour run at their own
 * places among them.
 *
 * `context`, `lifts`, `refuse`, `execute`, `plan`, `deliver`, `onPart` and `refused` are of every operation, whatever way it came.
 *
 * The others are of node-handler's door, which answers requests for prepared queries and mutations without the hooks of
 * plugins that have a behaviour, `onParse` and `onValidate` among them: they say what those hooks come to there. Up to
 * `admit` a request may go on through all hooks, with the same context; from `begin` on it ends there, whatever becomes of it.
 */
export interface Behaviour {
  /** Which one it is, for those who compose servers: of one name there is one on a server. */
  readonly name?: string | undefined
  /** Adds to the context what the plugin's `onContextBuilding` does, where that hook does not run. */
  context?(context: Record<string, unknown>): void
  /** Whether values may be lifted from the literals of a query or mutation; asked once for each document. */
  lifts?(prepared: PreparedDocument): boolean
  /** Gives a result in the place of an execution, before anything stands around it; undefined: it goes on. */
  refuse?(operation: Operation): ExecutionResult | undefined
  /** Stands around the execution of what is not a subscription. */
  execute?(operation: Operation, next: Execute): MaybePromise<unknown>
  /** Executes, behind all that stands around the execution; `next` is what executes otherwise. */
  plan?(operation: Operation, next: Execute): MaybePromise<unknown>
  /**
   * Is given a whole result, its errors masked, whoever it came from, before anybody else; gives it back, or a stream of
   * its parts.
   */
  deliver?(operation: Operation, result: ExecutionResult): MaybePromise<unknown>
  /** Hears each part of a stream, its errors not masked yet. */
  onPart?(operation: Operation, part: unknown): void
  /** Hears that a document which came before is refused: it is not valid, or another plugin's hook of validation says so. */
  refused?(operation: Operation, errors: readonly unknown[]): void

  /** Whether requests for an operation may take the door; asked once, when it was prepared. */
  admits?(prepared: PreparedDocument): boolean
  /** Whether this request may, by its head: a POST of JSON, or a GET. */
  accepts?(request: RequestHead): boolean
  /** Sees the request before the hooks of any plugin do. */
  receive?(request: Request, context: object): void
  /**
   * How a whole answer is marked for an `Accept` that names more than JSON, as `onResultProcess` says, which writes what is
   * no JSON; undefined: that is not for this plugin to say. Where nobody says, the request goes through all hooks.
   */
  mediaTypeOf?(accept: string): string | undefined
  /** Finds out who asks; false, or a rejection: all hooks, which say what is wrong. */
  identify?(request: Request, context: Record<string, unknown>): MaybePromise<boolean>
  /** Puts the text of a document in the place of its id; undefined: there is no id in it. */
  withText?(params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined
  /**
   * Whether it may by its body alone, so that equal ones are asked about once. A GET has no body: its parameters stand in
   * the target.
   */
  acceptsBody?(body: Buffer | undefined, params: OperationParams): boolean
  /**
   * Lets a request for one operation in, before other people's hooks see its parameters; false, or a rejection: all hooks.
   * There `onParams` of this plugin runs, whatever came of it, and refuses what was not let in.
   */
  admit?(request: Request, context: Record<string, unknown>): MaybePromise<boolean>
  /** Does what `onRequest` does: it makes notes on the context. */
  begin?(operation: Operation): void
  /** Writes a stream of parts, as `onResultProcess` does; undefined: not this. Where nobody does, the hooks do. */
  stream?(operation: Operation, parts: AsyncIterable<unknown>): PartStream | undefined
  /**
   * Does for the response what `onResponse` does; for one in parts before the first of them. Returns 304 if the client's
   * copy of it is current, so that it goes out without a body.
   */
  respond?(operation: Operation, response: ResponseHead): 304 | void
}
