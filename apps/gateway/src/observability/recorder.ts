import { systemClock } from '@vinyasa/core'
import type { ResponseHead } from '@vinyasa/core/pipeline'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasLeft } from '../http/left-clients.ts'
import { pathnameOf } from '../http/pathname.ts'
import { errorCodesOf, type OperationFacts } from './operation.ts'
import type { ErrorLike } from './recent-errors.ts'
import { keepRecord, recordOf, type RequestHead, type RequestRecord } from './request-record.ts'

/** Is told the result of an operation that it was told of; a result in parts when the first of them is to come. */
export type OperationEnd = (result: unknown) => void

/** Hears of requests and operations: logs, counts or traces them. All members are optional. */
export interface Observer {
  /** A request has come over HTTP. */
  request?(record: RequestRecord, request: Request): void
  /** A document is refused before it is an operation. Over HTTP `result` is told of it, too. */
  refused?(context: object, errors: readonly ErrorLike[], code: string): void
  /** An operation begins, whichever way it came. */
  operation?(facts: OperationFacts, context: unknown): OperationEnd | undefined
  /** The result of an operation over HTTP is made, as far as it comes in one piece. */
  executed?(context: object): void
  /** A part of a result that comes in several, or an event of a subscription. */
  part?(facts: OperationFacts, part: unknown): void
  /** A result is about to be written to a client of HTTP; each of a batch by itself. */
  result?(record: RequestRecord, result: unknown, request: RequestHead): void
  /** The head of a response over HTTP is about to be written, or the request ended without one. Called once. */
  response?(record: RequestRecord, response: ResponseHead, request: RequestHead, isShed?: boolean): void
}

/** How a request ended without a response of Yoga's. */
export interface RequestEnd {
  /** Undefined: the client sent no request that can be read. */
  readonly response?: ServerResponse<IncomingMessage> | undefined
  readonly request?: IncomingMessage | undefined
  /** Default: that of the response, or 499 if it has none. */
  readonly status?: number | undefined
  /** `extensions.code` of the error in the response. */
  readonly code?: string | undefined
  /** It was refused for load: the log counts these requests in one line. */
  readonly isShed?: boolean | undefined
}

/** The status of a request whose client closed the connection before a response began, as nginx has it. */
export const CLIENT_LEFT = 499

export interface RecorderOptions {
  /** In their order. */
  readonly observers: readonly Observer[]
  /** Milliseconds; default the platform's. */
  readonly now?: (() => number) | undefined
  /** Default: a random UUID. */
  readonly newId?: (() => string) | undefined
}

/**
 * The form of a request id that a client may send; any other is replaced, so that log lines stay one line.
 */
const CLIENT_ID = /^[\w.:-]{1,128}$/

type Listeners = { readonly [Name in keyof Observer]-?: readonly NonNullable<Observer[Name]>[] }

/** Keeps one record for each request over HTTP, and tells all observers what becomes of requests and operations. */
export class Recorder {
  readonly #listeners: Listeners
  readonly #now: () => number
  readonly #newId: () => string

  constructor({ observers, now = systemClock.now, newId = randomUUID }: RecorderOptions) {
    const named = <Name extends keyof Observer>(name: Name): Listeners[Name] =>
      observers.flatMap((observer) => observer[name]?.bind(observer) ?? []) as unknown as Listeners[Name]
    this.#listeners = {
      request: named('request'),
      refused: named('refused'),
      operation: named('operation'),
      executed: named('executed'),
      part: named('part'),
      result: named('result'),
      response: named('response'),
    }
    this.#now = now
    this.#newId = newId
  }

  /** Whether anybody listens. */
  tells(name: keyof Observer): boolean {
    return this.#listeners[name].length > 0
  }

  /** `path`: of its URL, where that is known. */
  begin(request: Request, context: object, path?: string): void {
    const record = this.#create(request.headers.get('x-request-id'), path)
    keepRecord(context, record)
    for (const tell of this.#listeners.request) tell(record, request)
  }

  #create(sentId: string | null, path: string | undefined): RequestRecord {
    return {
      id: sentId !== null && CLIENT_ID.test(sentId) ? sentId : this.#newId(),
      startedAt: this.#now(),
      operation: undefined,
      backendCalls: 0,
      waitedFor: undefined,
      hasEnded: false,
      errorCodes: undefined,
      path,
    }
  }

  /** Notes which operation a request asks for. */
  named({ name, type }: OperationFacts, context: unknown): void {
    const record = recordOf(context)
    if (record) record.operation = name ?? type
  }

  /** Gives what is to be told the result; undefined: nobody wants it. */
  beginOperation(facts: OperationFacts, context: unknown): OperationEnd | undefined {
    this.named(facts, context)
    let ends: OperationEnd[] | undefined
    for (const tell of this.#listeners.operation) {
      const end = tell(facts, context)
      if (end) (ends ??= []).push(end)
    }
    return ends && ((result) => ends.forEach((end) => end(result)))
  }

  refused(context: object, errors: readonly ErrorLike[], code: string): void {
    for (const tell of this.#listeners.refused) tell(context, errors, code)
  }

  executed(context: object): void {
    if (recordOf(context)) for (const tell of this.#listeners.executed) tell(context)
  }

  part(facts: OperationFacts, part: unknown): void {
    for (const tell of this.#listeners.part) tell(facts, part)
  }

  result(request: Request, context: object, result: unknown): void {
    const record = recordOf(context)
    if (!record || !result || record.hasEnded || hasLeft(context)) return
    for (const one of Array.isArray(result) ? result : [result]) this.#failed(record, one, request)
  }

  response(request: Request, response: ResponseHead, context: object): void {
    const record = recordOf(context)
    if (!record) return
    response.headers.set('x-request-id', record.id)
    const { headers } = response
    this.#end(record, hasLeft(context) ? { status: CLIENT_LEFT, headers } : response, request)
  }

  /** Does nothing if the end of the request is recorded already. */
  ended({ response, request, status, code, isShed }: RequestEnd): void {
    const known = recordOf(response)
    if (known?.hasEnded) return
    const { method = '', url = '' } = request ?? {}
    const record = known ?? this.#create(null, url === '' ? '' : pathnameOf(url))
    if (response && !known) keepRecord({ res: response }, record)
    if (code !== undefined)
      this.#failed(record, { errors: [{ message: code, extensions: { code } }] }, { method, url })
    const sent = status ?? (response?.headersSent ? response.statusCode : CLIENT_LEFT)
    this.#end(record, { status: sent, headers: new Headers() }, { method, url }, isShed)
  }

  #end(record: RequestRecord, head: ResponseHead, request: RequestHead, isShed = false): void {
    if (record.hasEnded) return
    record.hasEnded = true
    for (const tell of this.#listeners.response) tell(record, head, request, isShed)
  }

  #failed(record: RequestRecord, result: unknown, request: RequestHead): void {
    for (const code of errorCodesOf(result)) (record.errorCodes ??= new Set()).add(code)
    for (const tell of this.#listeners.result) tell(record, result, request)
  }
}
