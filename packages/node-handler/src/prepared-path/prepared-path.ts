import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type Operation,
  type OperationParams,
  type Asked,
  type EndpointAlias,
  OperationRun,
  type Hook,
  notModified,
  type PartStream,
  type Pipeline,
  type PreparedDocument,
  toErrors,
} from '@vinyasa/core/pipeline'
import type { FastPath, HookedRequest } from '../fast-path/fast-path.ts'
import { OnParams } from '../hooks/on-params.ts'
import { OnRequestParse } from '../hooks/on-request-parse.ts'
import type { CheckSize } from '../http/read-body.ts'
import type { LightRequest } from '../http/light-request.ts'
import { readBody } from '../http/read-body.ts'
import { after, attempt, createAttachment, isAsyncIterable, keyed, type MaybePromise } from '@vinyasa/core'
import { findAcceptChoice } from '../hooks/accept-choice.ts'
import { findParserChoice, findSizeLimit } from '../hooks/body-choices.ts'
import type { ServerContext, YogaInternals } from '../yoga/yoga-5.ts'
import { createKnownBodies, type KnownBody } from './known-bodies.ts'
import { MAX_BODY_BYTES, mediaTypesOf, requestHeads } from './request-heads.ts'
import { readParams } from './read-params.ts'
import { runExecutionResultHooks } from '../hooks/on-execution-result.ts'
import { isBody, isPlain, type PlainResult } from '../hooks/on-result-process.ts'
import { sendResponse } from '../http/send-response.ts'
import { runResponseHooks } from '../hooks/on-response.ts'
import { failedResponse } from '../yoga/last-catch.ts'
import { sendParts } from './send-parts.ts'
import { AnswerHeaders } from './answer-headers.ts'

interface PathServerOptions {
  readonly yoga: object
  readonly internals: YogaInternals
  readonly pipeline: Pipeline
  /** Handles all other requests, and requests that leave the prepared path. */
  readonly fastPath: FastPath
}

/** Returns the parts of the prepared path, or the reasons why a server has none. */
function readPathServer(options: PathServerOptions) {
  const { yoga, internals, pipeline, fastPath } = options
  const { server, known } = pipeline
  if (!known) return ['the plugins do not include usePipeline()']
  const choice = findAcceptChoice(internals)
  const endpoint: unknown = Reflect.get(yoga, 'graphqlEndpoint')
  if (!choice?.whole || typeof endpoint !== 'string')
    return ['the server was not created by a supported version of Yoga']
  const { behaviours, instrumented } = server
  if (instrumented.length > 0) return instrumented.map((step) => `a plugin uses instrumentation.${step}`)
  const parser = findParserChoice(internals)
  const sizeLimit = findSizeLimit(internals)
  const mediaTypeOf = mediaTypesOf(choice, behaviours)
  const aliasOf = findAliases(server, endpoint)
  const checks: readonly CheckSize[] = [sizeLimit?.check ?? [], server.members('checkBodySize')].flat()
  const bodies = createKnownBodies(known.room)
  known.onClear(() => bodies.clear())
  return {
    internals,
    fastPath,
    endpoint,
    aliasOf,
    checkChunked: (bytes: number): void => {
      for (const check of checks) check(bytes)
    },
    pipeline: server,
    known,
    bodies,
    others: server.others,
    allowsHead: requestHeads({ endpoint, aliasOf, sizeLimit, mediaTypeOf, behaviours }),
    mediaTypeOf,
    parseTarget: parser?.target,
    parseBody: parser?.json,
    receives: server.members('receive'),
    identifies: server.members('identify'),
    texts: server.members('withText'),
    judges: server.members('acceptsBody'),
    admits: server.members('admit'),
    begins: server.members('begin'),
    streams: server.members('stream'),
    responds: server.members('respond'),
    /** Whether third-party plugins have `onResponse` hooks. */
    othersRespond: server.steps.some(({ hooks }) => hooks?.onResponse),
    /** Whether requests for a document can take the path. */
    takes: keyed(
      (prepared: PreparedDocument) =>
        prepared.definition.operation !== 'subscription' && server.admits(prepared),
      createAttachment<boolean>(),
    ),
  }
}

/**
 * Returns a function that finds the alias of the endpoint in a request target. There are no aliases if plugins without a
 * behaviour have `onRequest` hooks, because whether these see the alias depends on the order of the plugins.
 */
function findAliases(
  { behaviours, others }: Pipeline['server'],
  endpoint: string,
): (target: string) => EndpointAlias | undefined {
  const given = others.onRequest.length > 0 ? [] : behaviours.flatMap(({ alias }) => alias ?? [])
  const aliases = new Map(given.map((alias) => [alias.pathFor(endpoint), alias]))
  return (target) => {
    if (aliases.size === 0 || target === endpoint) return undefined
    return aliases.get(target.split('?', 1)[0] as string)
  }
}

/** The parts of the prepared path of one server. */
type PathServer = Exclude<ReturnType<typeof readPathServer>, readonly string[]>

interface ResponsePayload {
  readonly response: Response
  setResponse(response: Response): void
}

/** Returns `undefined` if Yoga must serialize the result, or if it cannot be serialized. */
function textOf(result: PlainResult): string | Uint8Array | undefined {
  const { stringify = JSON.stringify } = result
  try {
    const text = stringify(result)
    return isBody(text) ? text : undefined
  } catch {
    // The processor fails in the same way, and its error is sent.
    return undefined
  }
}

function linesOf(headers: Readonly<Record<string, string>>): string[] {
  const lines: string[] = []
  for (const name of Object.keys(headers)) lines.push(name.toLowerCase(), headers[name] as string)
  return lines
}

/**
 * Reads the parameters in a body or in the target of a `GET` request, with the texts of persisted documents. Returns
 * `undefined` if the request cannot take the prepared path.
 */
function readAsked(server: PathServer, sent: Buffer | string): OperationParams | undefined {
  const { judges, parseTarget, texts } = server
  const isTarget = typeof sent === 'string'
  const params = readParams(
    () => (isTarget ? parseTarget?.({ url: sent } as Request) : JSON.parse(sent.toString('utf8'))),
    texts,
    isTarget ? sent : undefined,
  )
  if (!params) return undefined
  for (const judge of judges) if (!judge(isTarget ? undefined : sent, params)) return undefined
  return params
}

/** Returns `undefined` if the document is not cached. */
function findAsked(server: PathServer, params: OperationParams, method: string): Asked | undefined {
  const { known, others, takes } = server
  const asked = known.find(params, method, others.seesLiterals)
  return asked && takes(asked.prepared) ? asked : undefined
}

/** A request for a cached document. It stays on the prepared path, also after errors. */
class PreparedRun {
  readonly #server: PathServer
  readonly #asked: Asked
  readonly #run: OperationRun
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse

  constructor(
    server: PathServer,
    operation: Operation,
    asked: Asked,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ) {
    this.#server = server
    this.#asked = asked
    this.#run = new OperationRun(server.pipeline, operation, asked)
    this.#incoming = incoming
    this.#outgoing = outgoing
  }

  /** Executes the operation and sends the response. `unknownBody` is the request body if it is not cached. */
  serve(unknownBody: Buffer | string | undefined): MaybePromise<void> {
    const run = this.#run
    const executed = run.orErrors(() => {
      for (const begin of this.#server.begins) begin(run.operation)
      return run.start()
    })
    const heard = after(executed, (result) => run.orErrors(() => this.#tell(result)))
    return after(heard, (result) => {
      return after(this.#send(result), (isUsual) => {
        if (isUsual && unknownBody !== undefined) this.#remember(unknownBody)
      })
    })
  }

  #tell(result: unknown): MaybePromise<unknown> {
    const { onExecutionResult } = this.#server.others
    const { request, context } = this.#run.operation
    return runExecutionResultHooks(onExecutionResult, result, request, context)
  }

  #remember(sent: Buffer | string): void {
    const { prepared, params, lifted } = this.#asked
    const { operation } = this.#run
    // If a plugin replaced the document, the body does not determine the document.
    const isOther = operation.prepared !== prepared
    // Bodies with changing variables are not worth the memory.
    if (lifted || isOther || (operation.progress.wasExecuted && params.variables)) return
    const { known, bodies } = this.#server
    // Hooks can have changed the parameters in the meantime.
    const asked = readAsked(this.#server, sent)
    if (asked && known.get(asked) === prepared) bodies.add(sent, asked, prepared)
  }

  /** Whether a plugin chose the response format by the path. The hooks then serialize complete results. */
  get #isAtAlias(): boolean {
    return this.#server.aliasOf(this.#incoming.url ?? '') !== undefined
  }

  /** Returns Yoga's CORS hook, or `undefined` if the request has no `Origin` header. */
  get #cors(): Hook | undefined {
    return this.#incoming.headers.origin === undefined ? undefined : this.#server.pipeline.cors
  }

  /** Sends a result. Returns true if the result is regular: without errors and without custom status or headers. */
  #send(result: unknown): MaybePromise<boolean> {
    const { others, fastPath, internals, mediaTypeOf } = this.#server
    const mediaType =
      mediaTypeOf(this.#run.operation.request.headers.get('accept') ?? '') ?? 'application/json'
    const stream = isAsyncIterable(result) ? this.#streamOf(result) : undefined
    if (stream) {
      this.#sendStream(stream)
      return true
    }
    const isPlainJson =
      !others.processesResults && !this.#isAtAlias && isPlain(result) && mediaType.endsWith('json')
    const text = isPlainJson ? textOf(result) : undefined
    if (text !== undefined) return after(this.#sendWhole(text, mediaType), () => true)
    const given = this.#run.seen(result)
    const { request, context } = this.#run.operation
    const processed = attempt(
      () => fastPath.processResult(given, request, context),
      (error) => fastPath.processResult({ errors: toErrors(error, internals) }, request, context),
    )
    return after(this.#sendResponse(processed), () => others.processesResults && isPlain(result))
  }

  #streamOf(parts: AsyncIterable<unknown>): PartStream | undefined {
    const { streams, others, othersRespond } = this.#server
    if (others.processesResults || othersRespond || this.#cors) return undefined
    for (const stream of streams) {
      const found = stream(this.#run.operation, parts)
      if (found) return found
    }
    return undefined
  }

  #sendWhole(body: string | Uint8Array, mediaType: string): MaybePromise<void> {
    const { othersRespond, responds, fastPath } = this.#server
    if (othersRespond || this.#cors) return this.#sendResponse(fastPath.createResponse(body, mediaType))
    const contentType = `${mediaType}; charset=utf-8`
    const length = String(typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength)
    const isOpen =
      responds.length === 0
        ? this.#writeHead({ 'Content-Type': contentType, 'content-length': length })
        : this.#respond(['content-type', contentType, 'content-length', length])
    if (isOpen) this.#outgoing.end(body)
  }

  #sendStream(stream: PartStream): void {
    const { responds, pipeline } = this.#server
    const isOpen =
      responds.length === 0 ? this.#writeHead(stream.headers) : this.#respond(linesOf(stream.headers))
    if (!isOpen) return stream.leave()
    sendParts(stream, this.#incoming, this.#outgoing, (part) => {
      for (const hear of pipeline.partsSeen) hear(this.#run.operation, part)
    })
  }

  /** Returns false if the client has disconnected. */
  #respond(lines: string[]): boolean {
    const headers = new AnswerHeaders(lines)
    const response = { status: 200, headers }
    for (const respond of this.#server.responds) {
      if (respond(this.#run.operation, response) !== 304) continue
      response.status = 304
      for (const name of ['content-type', 'content-length']) headers.delete(name)
    }
    return this.#writeHead(headers.lines, response.status)
  }

  /** Writes the head. Node sends no body with status 304. */
  #writeHead(headers: string[] | Readonly<Record<string, string>>, status = 200): boolean {
    const outgoing = this.#outgoing
    if (outgoing.destroyed || outgoing.writableEnded) return false
    outgoing.writeHead(status, status === 200 ? 'OK' : 'Not Modified', headers)
    return true
  }

  /** Sends the response that plugins return. Errors outside an operation get an HTTP status and its name. */
  #sendResponse(given: MaybePromise<Response>): MaybePromise<void> {
    const { internals } = this.#server
    const responded = attempt(
      () => after(given, (response) => this.#responded(response)),
      (error) => failedResponse(error, this.#outgoing, internals),
    )
    return attempt(
      () => after(responded, (response) => sendResponse(response, this.#outgoing, this.#incoming)),
      (error) => internals.logger.error(error),
    )
  }

  /** Runs the `onResponse` hooks and `respond` functions of all plugins, in order. */
  #responded(given: Response): MaybePromise<Response> {
    const { pipeline, internals } = this.#server
    const { fetchAPI } = internals
    const operation = this.#run.operation
    const hooks = pipeline.steps.flatMap(({ behaviour, hooks: others }): readonly Hook[] => {
      if (others) return others.onResponse ? [others.onResponse] : []
      if (!behaviour?.respond) return []
      return [
        (payload) => {
          const { response, setResponse } = payload as ResponsePayload
          if (behaviour.respond?.(operation, response) === 304) setResponse(notModified(response, fetchAPI))
        },
      ]
    })
    const all = this.#cors ? [this.#cors, ...hooks] : hooks
    return runResponseHooks(all, given, operation.request, operation.context, fetchAPI)
  }
}

/**
 * Returns the handler of the prepared path, or the reasons why there is none. The handler returns `undefined` for
 * requests that do not qualify.
 */
export function openPreparedPath(
  options: PathServerOptions,
): ((incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> | undefined) | readonly string[] {
  const server = readPathServer(options)
  if (!('fastPath' in server)) return server
  return (incoming, outgoing) =>
    server.allowsHead(incoming)
      ? Promise.resolve(new PreparedRequest(server, incoming, outgoing).serve())
      : undefined
}

/** A request until its document is found. Then a {@link PreparedRun} continues. */
class PreparedRequest {
  readonly #server: PathServer
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  readonly #context: ServerContext
  readonly #bytes: Promise<Buffer> | undefined
  readonly #request: LightRequest
  /** The state for hooks. It is created before the first hook runs. */
  #hooked: HookedRequest | undefined

  constructor(server: PathServer, incoming: IncomingMessage, outgoing: ServerResponse) {
    const { internals, fastPath } = server
    this.#server = server
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#context = { req: incoming, res: outgoing, waitUntil: internals.waitUntil }
    // Node ends a body at its Content-Length, which was checked with the head.
    const check = incoming.headers['content-length'] === undefined ? server.checkChunked : undefined
    this.#bytes = incoming.method === 'GET' ? undefined : readBody(incoming, check)
    this.#request = fastPath.createRequest(incoming, outgoing, this.#bytes)
  }

  serve(): MaybePromise<void> {
    const { onRequest } = this.#server.others
    for (const receive of this.#server.receives) receive(this.#request, this.#context)
    const alias = this.#server.aliasOf(this.#incoming.url ?? '')
    if (alias) {
      alias.enter(this.#context)
      this.#request.moveTo(this.#server.endpoint)
    }
    if (onRequest.length === 0) return this.#receive()
    const isUntouched = this.#asHooked().onRequest.runAhead(onRequest)
    return after(isUntouched, (untouched) => (untouched ? this.#receive() : this.#ordinary()))
  }

  #asHooked(): HookedRequest {
    return (this.#hooked ??= this.#server.fastPath.begin(this.#request, this.#context))
  }

  #receive(): MaybePromise<void> {
    if (!this.#bytes) return this.#identify(this.#incoming.url ?? '')
    return this.#bytes.then(
      (body) => (body.length > MAX_BODY_BYTES ? this.#ordinary() : this.#identify(body)),
      () => this.#ordinary(),
    )
  }

  /** Identifies the client. `sent` is the request body, or the target of a `GET` request. */
  #identify(sent: Buffer | string): MaybePromise<void> {
    const isKnown = this.#all(this.#server.identifies)
    return after(isKnown, (known) => (known ? this.#parse(sent) : this.#ordinary()))
  }

  /** Returns false as soon as a check returns false or throws. */
  #all(checks: PathServer['identifies']): MaybePromise<boolean> {
    return attempt<boolean>(
      () => {
        let isGood: MaybePromise<boolean> = true
        for (const check of checks)
          isGood = after(isGood, (good) => good && check(this.#request, this.#context))
        return isGood
      },
      () => false,
    )
  }

  #parse(sent: Buffer | string): MaybePromise<void> {
    const { others, internals, parseBody, parseTarget } = this.#server
    if (others.onRequestParse.length === 0) return this.#read(sent)
    const parser = typeof sent === 'string' ? parseTarget : parseBody
    const step = new OnRequestParse(this.#request, this.#context, parser, internals.fetchAPI)
    this.#asHooked().onRequestParse = step
    return after(step.runAhead(others.onRequestParse), (untouched) =>
      untouched ? this.#read(sent) : this.#ordinary(),
    )
  }

  #read(sent: Buffer | string): MaybePromise<void> {
    const { others, bodies } = this.#server
    const body = bodies.get(sent)
    const params = body ? body.params() : readAsked(this.#server, sent)
    if (!params) return this.#ordinary()
    const isAdmitted = this.#all(this.#server.admits)
    return after(isAdmitted, (admitted) => {
      if (!admitted) return this.#ordinary()
      if (others.onParams.length > 0) return this.#change(params, sent, body)
      return this.#begin(params, sent, body)
    })
  }

  /** Runs third-party `onParams` hooks, which can change the parameters. */
  #change(params: OperationParams, sent: Buffer | string, body: KnownBody | undefined): MaybePromise<void> {
    const { others, internals, fastPath } = this.#server
    const { handleParams } = fastPath
    const step = new OnParams(params, this.#request, this.#context, handleParams, internals.fetchAPI)
    this.#asHooked().onParams = step
    return after(step.runAhead(others.onParams), (untouched) => {
      const chosen = untouched ? readParams(() => step.params, []) : undefined
      return chosen ? this.#begin(chosen, sent, body?.ask(chosen) ? body : undefined) : this.#ordinary()
    })
  }

  #begin(given: OperationParams, sent: Buffer | string, body: KnownBody | undefined): MaybePromise<void> {
    const asked = body
      ? { params: given, prepared: body.prepared, sent: given, lifted: undefined }
      : findAsked(this.#server, given, this.#request.method)
    if (!asked || this.#outgoing.destroyed) return this.#ordinary()
    const { others } = this.#server
    const { params, prepared } = asked
    const context = this.#context
    context['request'] = this.#request
    context['params'] = asked.sent
    const operation: Operation = {
      prepared,
      params,
      request: this.#request,
      context,
      sameBytes: body,
      progress: { wasExecuted: false, isFinal: false, isRefused: false },
      isObserved: others.seesResults,
    }
    const run = new PreparedRun(this.#server, operation, asked, this.#incoming, this.#outgoing)
    return run.serve(body ? undefined : sent)
  }

  #ordinary(): Promise<void> {
    return this.#server.fastPath.serve(this.#asHooked(), this.#incoming, this.#outgoing)
  }
}
