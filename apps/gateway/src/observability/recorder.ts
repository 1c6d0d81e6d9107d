import { systemClock } from '@vinyasa/base'
import type { ResponseHead } from '@vinyasa/pipeline'
import { randomUUID } from 'node:crypto'
import { errorCodesOf, type OperationFacts } from './operation.ts'
import type { ErrorLike } from './recent-errors.ts'
import { keepRecord, recordOf, type RequestRecord } from './request-record.ts'

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
  result?(record: RequestRecord, result: unknown, request: Request): void
  /** The head of an answer over HTTP is about to be written. */
  response?(record: RequestRecord, response: ResponseHead, request: Request, context: object): void
}

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
    const sent = request.headers.get('x-request-id')
    const record: RequestRecord = {
      id: sent !== null && CLIENT_ID.test(sent) ? sent : this.#newId(),
      startedAt: this.#now(),
      operation: undefined,
      backendCalls: 0,
      errorCodes: undefined,
      path,
    }
    keepRecord(context, record)
    for (const tell of this.#listeners.request) tell(record, request)
  }

  /** Gives what is to be told the result; undefined: nobody wants it. */
  beginOperation(facts: OperationFacts, context: unknown): OperationEnd | undefined {
    const record = recordOf(context)
    if (record) record.operation = facts.name ?? facts.type
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
    if (!record || !result) return
    for (const one of Array.isArray(result) ? result : [result]) {
      for (const code of errorCodesOf(one)) (record.errorCodes ??= new Set()).add(code)
      for (const tell of this.#listeners.result) tell(record, one, request)
    }
  }

  response(request: Request, response: ResponseHead, context: object): void {
    const record = recordOf(context)
    if (record) for (const tell of this.#listeners.response) tell(record, response, request, context)
  }
}
