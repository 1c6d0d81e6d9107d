import { systemClock } from '@vinyasa/base'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Plugin } from 'graphql-yoga'
import { hasLeft } from '../http/left-clients.ts'
import { lineWriterOf, quoted } from '../logging/line-writer.ts'
import type { Logger } from '../logging/logger.ts'
import type { ObserveBackendCall } from './backend-call.ts'
import { errorCodesOf, operationOf } from './operation.ts'
import { isNotFromHttp } from './live-context.ts'
import { keepRecord, recordedPath, recordOf, type RequestRecord } from './request-record.ts'
import type { ShortResponse } from '@vinyasa/node-handler'
import { withShortWay } from '../short-way.ts'

export interface RequestLogOptions {
  readonly logger: Logger
  /** Milliseconds; default the platform's. */
  readonly now?: (() => number) | undefined
  /** Default: a random UUID. */
  readonly newId?: (() => string) | undefined
  /** Names of members that the logger does not show. Default: none of a request's line. */
  readonly redact?: readonly string[] | undefined
  /** Paths of probes and scrapes, which are logged at `debug`. Default: none. */
  readonly quiet?: readonly string[] | undefined
}

/** One line. */
interface Line {
  readonly id: string
  readonly method: string
  readonly path: string
  operation?: string
  status?: number
  ms?: number
  cache?: string
  backendCalls?: number
  left?: boolean
  errors?: readonly string[]
}

const KEYS: ReadonlySet<string> = new Set<keyof Line>([
  'id',
  'method',
  'path',
  'operation',
  'status',
  'ms',
  'cache',
  'backendCalls',
  'left',
  'errors',
])

/** What a client may send as its own request id; anything else is replaced, so log lines stay one line. */
const CLIENT_ID = /^[\w.:-]{1,128}$/

/**
 * One log line a request: id, operation, status, milliseconds, cache outcome, backend calls, codes of errors. The id
 * is the client's `x-request-id` or a new one, and goes back as a header. Probes are logged at `debug`. Requests whose
 * clients have left are marked so; those that were not executed are not logged.
 */
export function useRequestLog(options: RequestLogOptions): Plugin {
  const { logger: given, now = systemClock.now, newId = randomUUID, redact = [] } = options
  const quiet = new Set(options.quiet)
  // No key of a line is the name of a secret: looking for one at each would cost more than the answer.
  const isPlain = !redact.some((name) => KEYS.has(name))
  const logger = isPlain ? given.child({}, { redact: [] }) : given
  const writeLine = isPlain ? lineWriterOf(given) : undefined

  function keep(request: Request, context: object, path?: string): void {
    const sent = request.headers.get('x-request-id')
    const id = sent !== null && CLIENT_ID.test(sent) ? sent : newId()
    const record: RequestRecord = {
      id,
      startedAt: now(),
      operation: undefined,
      backendCalls: 0,
      errorCodes: undefined,
      path,
    }
    keepRecord(context, record)
  }

  function respond(request: Request, response: ShortResponse, context: object): void {
    const record = recordOf(context)
    if (!record) return
    const { id, operation, backendCalls, errorCodes } = record
    const left = hasLeft(context)
    if (left && operation === undefined) return
    response.headers.set('x-request-id', id)
    const path = recordedPath(record, request)
    const level = quiet.has(path) ? 'debug' : 'info'
    if (!logger.isLevelEnabled(level)) return
    const cache = response.headers.get('x-cache')
    const line: Line = { id, method: request.method, path }
    if (operation !== undefined) line.operation = operation
    line.status = response.status
    line.ms = Math.round((now() - record.startedAt) * 10) / 10
    if (cache !== null) line.cache = cache
    if (operation !== undefined) line.backendCalls = backendCalls
    // What fails because nobody waits for it any more is no error.
    if (left) line.left = left
    else if (errorCodes) line.errors = [...errorCodes]
    if (writeLine) writeLine(level, membersOf(line), 'request')
    else logger[level](line, 'request')
  }

  const plugin: Plugin = {
    onRequest({ request, serverContext }) {
      if (!isNotFromHttp(serverContext)) keep(request, serverContext)
    },
    onExecute({ args }) {
      noteOperation(args)
    },
    onSubscribe({ args }) {
      noteOperation(args)
    },
    // What was refused before it was an operation comes here too, as on the short way all that has errors does.
    onResultProcess({ serverContext, result }) {
      noteErrors(serverContext, result)
    },
    onResponse({ request, response, serverContext }) {
      respond(request, response, serverContext)
    },
  }
  return withShortWay(plugin, {
    begin({ request, context }) {
      // It is the endpoint's, whose path no URL writes otherwise.
      keep(request, context, pathOfTarget((context['req'] as IncomingMessage).url ?? '/'))
    },
    execute(call, next) {
      const { name, operation } = call.operation.definition
      const record = recordOf(call.context)
      if (record) record.operation = name?.value ?? operation
      return next(call)
    },
    respond({ request, context }, response) {
      respond(request, response, context)
    },
  })
}

function noteErrors(context: unknown, result: unknown): void {
  const record = recordOf(context)
  if (!record || !result) return
  for (const one of Array.isArray(result) ? result : [result]) {
    for (const code of errorCodesOf(one)) (record.errorCodes ??= new Set()).add(code)
  }
}

/** The members of a line, in their order, as they stand in JSON behind others. */
function membersOf({
  id,
  method,
  path,
  operation,
  status,
  ms,
  cache,
  backendCalls,
  left,
  errors,
}: Line): string {
  let text = `,"id":${quoted(id)},"method":${quoted(method)},"path":${quoted(path)}`
  if (operation !== undefined) text += `,"operation":${quoted(operation)}`
  text += `,"status":${status},"ms":${ms}`
  if (cache !== undefined) text += `,"cache":${quoted(cache)}`
  if (backendCalls !== undefined) text += `,"backendCalls":${backendCalls}`
  if (left) text += ',"left":true'
  return errors ? `${text},"errors":${JSON.stringify(errors)}` : text
}

/** Counts the calls that an operation's request made. */
export const countBackendCalls: ObserveBackendCall = ({ context }) => {
  const record = recordOf(context)
  if (record) record.backendCalls++
  return undefined
}

function pathOfTarget(target: string): string {
  const end = target.indexOf('?')
  return end < 0 ? target : target.slice(0, end)
}

function noteOperation(args: {
  readonly document: Parameters<typeof operationOf>[0]
  readonly operationName?: unknown
  readonly contextValue?: unknown
}): void {
  const record = recordOf(args.contextValue)
  if (!record) return
  const { type, name } = operationOf(args.document, args.operationName)
  record.operation = name ?? type
}
