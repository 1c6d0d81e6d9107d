import { after, systemClock } from '@vinyasa/base'
import type { ShortResponse } from '@vinyasa/node-handler'
import type { ExecutionArgs } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { withShortWay } from '../short-way.ts'
import { isNotFromHttp } from '../context/live-context.ts'
import { errorCodesOf, factsOf, operationOf, type OperationFacts } from './operation.ts'
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
  response?(record: RequestRecord, response: ShortResponse, request: Request, context: object): void
}

export interface RecorderOptions {
  /** In their order. */
  readonly observers: readonly Observer[]
  /** Milliseconds; default the platform's. */
  readonly now?: (() => number) | undefined
  /** Default: a random UUID. */
  readonly newId?: (() => string) | undefined
}

/** What a client may send as its own request id; anything else is replaced, so log lines stay one line. */
const CLIENT_ID = /^[\w.:-]{1,128}$/

/** Keeps one record for each request over HTTP, and tells all observers what becomes of requests and operations. */
export function useRecorder({
  observers,
  now = systemClock.now,
  newId = randomUUID,
}: RecorderOptions): Plugin {
  const members = <Name extends keyof Observer>(name: Name): NonNullable<Observer[Name]>[] =>
    observers.flatMap((observer) => observer[name]?.bind(observer) ?? []) as NonNullable<Observer[Name]>[]
  const onRequest = members('request')
  const onRefused = members('refused')
  const onOperation = members('operation')
  const onExecuted = members('executed')
  const onPart = members('part')
  const seesParts = onPart.length > 0
  const onResult = members('result')
  const onResponse = members('response')

  function begin(request: Request, context: object, path?: string): void {
    const sent = request.headers.get('x-request-id')
    const record: RequestRecord = {
      id: sent !== null && CLIENT_ID.test(sent) ? sent : newId(),
      startedAt: now(),
      operation: undefined,
      backendCalls: 0,
      errorCodes: undefined,
      path,
    }
    keepRecord(context, record)
    for (const observe of onRequest) observe(record, request)
  }

  function beginOperation(facts: OperationFacts, context: unknown): OperationEnd | undefined {
    const record = recordOf(context)
    if (record) record.operation = facts.name ?? facts.type
    let ends: OperationEnd[] | undefined
    for (const observe of onOperation) {
      const end = observe(facts, context)
      if (end) (ends ??= []).push(end)
    }
    return ends && ((result) => ends.forEach((end) => end(result)))
  }

  function refuse(context: object, errors: readonly ErrorLike[], code: string): void {
    for (const observe of onRefused) observe(context, errors, code)
  }

  function tellExecuted(context: object): void {
    if (recordOf(context)) for (const observe of onExecuted) observe(context)
  }

  function tellPart(facts: OperationFacts, part: unknown): void {
    for (const observe of onPart) observe(facts, part)
  }

  function tellResult(request: Request, context: object, result: unknown): void {
    const record = recordOf(context)
    if (!record || !result) return
    for (const one of Array.isArray(result) ? result : [result]) {
      for (const code of errorCodesOf(one)) (record.errorCodes ??= new Set()).add(code)
      for (const observe of onResult) observe(record, one, request)
    }
  }

  function respond(request: Request, response: ShortResponse, context: object): void {
    const record = recordOf(context)
    if (record) for (const observe of onResponse) observe(record, response, request, context)
  }

  const plugin: Plugin = {
    onRequest({ request, serverContext }) {
      if (!isNotFromHttp(serverContext)) begin(request, serverContext)
    },
    onExecute({ args }) {
      const facts = factsIn(args)
      const end = beginOperation(facts, args.contextValue)
      if (!end && !seesParts) return undefined
      return {
        onExecuteDone({ result }) {
          end?.(result)
          return seesParts && isAsyncIterable(result)
            ? { onNext: (part) => tellPart(facts, part.result) }
            : undefined
        },
      }
    },
    onSubscribe({ args }) {
      const facts = factsIn(args)
      const end = beginOperation(facts, args.contextValue)
      return {
        onSubscribeResult({ result }) {
          end?.(result)
          return seesParts ? { onNext: (part) => tellPart(facts, part.result) } : undefined
        },
        onSubscribeError: ({ error }) => end?.({ errors: [error] }),
      }
    },
    onExecutionResult({ context }) {
      tellExecuted(context)
    },
    // What was refused before it was an operation comes here too, as on the short way all that has errors does.
    onResultProcess({ request, serverContext, result }) {
      tellResult(request, serverContext, result)
    },
    onResponse({ request, response, serverContext }) {
      respond(request, response, serverContext)
    },
    ...(onRefused.length > 0 && {
      onParse:
        ({ context }) =>
        ({ result }) => {
          if (result instanceof Error) refuse(context, [result], 'GRAPHQL_PARSE_FAILED')
        },
      onValidate:
        ({ context }) =>
        ({ valid, result }) => {
          if (!valid) refuse(context, result, 'GRAPHQL_VALIDATION_FAILED')
        },
    }),
  }
  return withShortWay(plugin, {
    begin({ request, context }) {
      // It is the endpoint's, whose path no URL writes otherwise.
      begin(request, context, pathOfTarget((context['req'] as IncomingMessage).url ?? '/'))
    },
    execute(call, next) {
      const end = beginOperation(factsOf(call.operation.definition), call.context)
      if (!end) return next(call)
      return after(next(call), (result) => {
        end(result)
        return result
      })
    },
    ...(seesParts && { onPart: ({ operation }, part) => tellPart(factsOf(operation.definition), part) }),
    respond({ request, context }, response) {
      tellExecuted(context)
      respond(request, response, context)
    },
  })
}

function factsIn({
  document,
  operationName,
}: Pick<ExecutionArgs, 'document' | 'operationName'>): OperationFacts {
  return operationOf(document, operationName)
}

function pathOfTarget(target: string): string {
  const end = target.indexOf('?')
  return end < 0 ? target : target.slice(0, end)
}
