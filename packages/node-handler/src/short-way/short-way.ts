import type { IncomingMessage, ServerResponse } from 'node:http'
import { getOperationAST, type DocumentNode, type ExecutionArgs, type GraphQLSchema } from 'graphql'
import type { FastPath } from '../fast-path/fast-path.ts'
import { findAcceptChoice, isStream } from '../fast-path/accept-choice.ts'
import { isBody, isPlain } from '../fast-path/result-phase.ts'
import { findParserChoice, findSizeLimit } from '../fast-path/body-choices.ts'
import type { LightRequest } from '../http/light-request.ts'
import { readBody } from '../http/read-body.ts'
import { isPromise, type MaybePromise } from '@vinyasa/base'
import { yogasExecutor } from '@vinyasa/yoga-internals'
import type { ServerContext, YogaInternals } from '../yoga/yoga-5.ts'
import type { KnownBody } from './known-bodies.ts'
import { errorsIn } from './literals/lifted-errors.ts'
import type { LiftedOperation } from './literals/lift-literals.ts'
import type { KnownOperation, NextExecutor, ShortCall, ShortParams, ShortStream } from './part.ts'
import { readParts } from './read-parts.ts'
import { sendParts } from './send-parts.ts'
import { AnswerHeaders } from './short-headers.ts'
import { readParams } from './short-params.ts'
import { shortMediaTypes, shortRequests } from './short-requests.ts'
import { type Executed, shortWayStateOf } from './use-short-way.ts'

export interface ShortWay {
  /** Undefined: the request is not for it. */
  take(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> | undefined
  /** Remembers a valid operation that went through every hook. */
  learn(asked: Asked, schema: GraphQLSchema, document: DocumentNode): void
}

type Asked = Pick<ShortParams, 'query' | 'operationName'>

interface AskedOperation {
  readonly params: ShortParams
  readonly operation: KnownOperation
  /** Where the document is one of these, with what the client sent. */
  readonly lifted?: LiftedOperation
  readonly sent?: ShortParams
}

export interface ShortWayOptions {
  readonly yoga: object
  readonly internals: YogaInternals
  readonly maxBodyBytes: number | undefined
  /** The way of all other requests, and of those that have begun here. */
  readonly fastPath: FastPath
}

export interface OpenedShortWay {
  readonly way: ShortWay | undefined
  readonly reasons: readonly string[]
}

/** The short way of a server, or why it has none. */
export function openShortWay(options: ShortWayOptions): OpenedShortWay {
  const { yoga, internals } = options
  const closed = (...reasons: readonly string[]): OpenedShortWay => ({ way: undefined, reasons })
  const state = shortWayStateOf(internals.plugins)
  if (!state) return closed('useShortWay() is not among the plugins')
  const choice = findAcceptChoice(internals.onResultProcess)
  const execute = yogasExecutor(internals.plugins)
  const endpoint: unknown = Reflect.get(yoga, 'graphqlEndpoint')
  if (!choice?.whole || !execute || typeof endpoint !== 'string') {
    return closed('this version of Yoga is built differently')
  }
  const { parts, reasons, hasCors } = readParts(internals.plugins, state.own)
  if (reasons.length > 0) return closed(...reasons)
  const { maxBodyBytes, fastPath } = options
  const { createRequest, goOn: ordinary } = fastPath
  const parseTarget = findParserChoice(internals.onRequestParse)?.target
  const sizeLimit = findSizeLimit(internals.onRequestParse)
  const mediaTypeOf = shortMediaTypes(choice, parts)
  const isShort = shortRequests({ endpoint, maxBodyBytes, sizeLimit, mediaTypeOf, hasCors, parts })
  const judges = parts.flatMap(({ acceptsBody }) => acceptsBody ?? [])
  const begins = parts.flatMap(({ begin }) => begin ?? [])
  const responds = parts.flatMap(({ respond }) => respond ?? [])
  const streams = parts.flatMap(({ stream }) => stream ?? [])
  const partsSeen = parts.flatMap(({ onPart }) => onPart ?? [])
  const { waitUntil } = internals
  const { known, bodies, shapes, executed } = state

  const run = parts
    .flatMap(({ execute: around }) => around ?? [])
    .reduceRight<NextExecutor>(
      (next, around) => (call) => around(call, next),
      (call) => {
        call.wasExecuted = true
        return (call.executor ?? execute)(argsOf(call))
      },
    )

  /** Undefined: not for this way. */
  function read(sent: Buffer | string): AskedOperation | undefined {
    const isTarget = typeof sent === 'string'
    const params = readParams(() =>
      isTarget ? parseTarget?.({ url: sent } as Request) : JSON.parse(sent.toString('utf8')),
    )
    if (!params) return undefined
    const operation = known.get(params)
    const found = operation ? undefined : shapes?.find(params)
    if (!operation && !found) return undefined
    for (const judge of judges) if (!judge(isTarget ? undefined : sent, params)) return undefined
    if (operation) return { params, operation }
    return (
      found && { params: found.params, operation: found.lifted.operation, lifted: found.lifted, sent: params }
    )
  }

  function proceed(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    request: LightRequest,
    /** The body, or the target of a GET. */
    body: Buffer | string,
  ): MaybePromise<void> {
    const context: ServerContext = { req: incoming, res: outgoing, waitUntil }
    const knownBody = bodies.get(body)
    const asked = knownBody ? askedBy(knownBody) : read(body)
    if (!asked || outgoing.destroyed) return ordinary(request, context, incoming, outgoing)
    const { params, operation, lifted, sent = params } = asked
    context['request'] = request
    context['params'] = sent
    const call: ShortCall = { operation, params, request, context, sameBody: knownBody, wasExecuted: false }
    for (const begin of begins) begin(call)
    const goOn = (done: Executed | undefined): Promise<void> => {
      if (done) executed.set(context, lifted ? asSent(done, sent.query, lifted.text) : done)
      return ordinary(request, context, incoming, outgoing)
    }
    const remember = (): void => {
      // One that is executed with other variables each time is not worth the room.
      if (!knownBody && (!call.wasExecuted || !params.variables) && known.get(params) === operation)
        bodies.add(body, params, operation)
    }
    const finish = (result: unknown): MaybePromise<void> => {
      if (result === undefined) return goOn(undefined)
      const stream = isStream(result) ? streamOf(call, result) : undefined
      if (stream) {
        remember()
        return sendStream(call, stream, incoming, outgoing)
      }
      if (!isPlain(result)) return goOn({ result })
      const { stringify = JSON.stringify } = result
      const text = stringify(result)
      if (!isBody(text)) return goOn({ result })
      remember()
      return send(call, text, incoming, outgoing)
    }
    const fail = (error: unknown): Promise<void> => goOn({ error })
    let result: unknown
    try {
      result = run(call)
    } catch (error) {
      return fail(error)
    }
    return isPromise(result) ? result.then(finish, fail) : finish(result)
  }

  function send(
    call: ShortCall,
    body: string | Uint8Array,
    { headers: { accept = '' } }: IncomingMessage,
    outgoing: ServerResponse,
  ): void {
    const contentType = `${mediaTypeOf(accept)}; charset=utf-8`
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
    const isOpen =
      responds.length === 0
        ? writeHead(outgoing, { 'Content-Type': contentType, 'content-length': String(length) })
        : respondWith(call, ['content-type', contentType, 'content-length', String(length)], outgoing)
    if (isOpen) outgoing.end(body)
  }

  function streamOf(call: ShortCall, parts: AsyncIterable<unknown>): ShortStream | undefined {
    for (const stream of streams) {
      const found = stream(call, parts)
      if (found) return found
    }
    return undefined
  }

  function sendStream(
    call: ShortCall,
    stream: ShortStream,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): void {
    const isOpen =
      responds.length === 0
        ? writeHead(outgoing, stream.headers)
        : respondWith(call, linesOf(stream.headers), outgoing)
    if (!isOpen) return stream.leave()
    sendParts(stream, incoming, outgoing, (part) => {
      for (const see of partsSeen) see(call, part)
    })
  }

  /** False where nobody waits for the answer any more. */
  function respondWith(call: ShortCall, lines: string[], outgoing: ServerResponse): boolean {
    const headers = new AnswerHeaders(lines)
    const response = { status: 200, headers }
    for (const respond of responds) respond(call, response)
    return writeHead(outgoing, headers.lines)
  }

  function isAdmitted(operation: KnownOperation): boolean {
    return parts.every(({ admits }) => admits?.(operation) ?? true)
  }

  return {
    reasons: [],
    way: {
      take(incoming, outgoing) {
        if (!isShort(incoming)) return undefined
        if (incoming.method === 'GET') {
          const request = createRequest(incoming, outgoing)
          return new Promise((resolve) => resolve(proceed(incoming, outgoing, request, incoming.url ?? '')))
        }
        const bytes = readBody(incoming, undefined)
        const request = createRequest(incoming, outgoing, bytes)
        return bytes.then(
          (body) => proceed(incoming, outgoing, request, body),
          () => ordinary(request, { req: incoming, res: outgoing, waitUntil }, incoming, outgoing),
        )
      },
      learn(asked, schema, document) {
        const { query, operationName } = asked
        const definition = getOperationAST(document, operationName)
        if (definition?.operation !== 'query') return
        const operation = { schema, document, definition, operationName }
        if (!isAdmitted(operation)) return
        known.add({ query, operationName }, operation)
        shapes?.add(asked, schema, document, isAdmitted)
      },
    },
  }
}

function writeHead(outgoing: ServerResponse, headers: string[] | Readonly<Record<string, string>>): boolean {
  if (outgoing.destroyed || outgoing.writableEnded) return false
  outgoing.writeHead(200, 'OK', headers)
  return true
}

function linesOf(headers: Readonly<Record<string, string>>): string[] {
  const lines: string[] = []
  for (const name of Object.keys(headers)) lines.push(name.toLowerCase(), headers[name] as string)
  return lines
}

/** What an execution came to, of the document that the client sent. */
function asSent(done: Executed, sent: string, lifted: string): Executed {
  if ('error' in done) return { error: errorsIn([done.error], sent, lifted)[0] }
  const { errors } = Object(done.result) as { readonly errors?: readonly unknown[] }
  if (!errors) return done
  return { result: Object.assign(done.result as object, { errors: errorsIn(errors, sent, lifted) }) }
}

function askedBy(body: KnownBody): AskedOperation {
  return { params: body.params(), operation: body.operation }
}

/** For an executor: what Envelop hands to Yoga's. */
export function argsOf({ operation, params, context }: ShortCall): ExecutionArgs {
  const { schema, document, operationName } = operation
  const { variables: variableValues } = params
  return { schema, document, contextValue: context, variableValues, operationName } as ExecutionArgs
}
