import type { IncomingMessage, ServerResponse } from 'node:http'
import { after, attempt, isPromise, type MaybePromise } from '@vinyasa/core'
import {
  type EndpointAlias,
  enterAlias,
  type Hook,
  type RequestParser,
  runHooks,
  toErrors,
} from '@vinyasa/core/pipeline'
import type { FetchAPI } from 'graphql-yoga'
import { lightOf, type LightRequest } from '../http/light-request.ts'
import { lazyUrl } from '../http/request-target.ts'
import { AnswerHeaders, sendParts, sendResponse } from './send.ts'
import { failedResponse, isResponse, type RequestHandler, type ServerContext } from '../yoga/yoga-5.ts'
import type { Cycle, RequestSteps } from './cycle.ts'
import type { KnownBody } from './known-bodies.ts'
import { OperationStep, type Written } from './operation-step.ts'

type RequestPayload = Parameters<typeof enterAlias>[1]

/** The bytes of a body, or the target of a `GET` request. */
type Sent = Buffer | string | undefined

/** The head of a response that is sent without a `Response` object. */
interface Head {
  readonly status: number
  /** Alternating names and values, or an object. */
  readonly lines: string[] | Readonly<Record<string, string>>
}

/** One HTTP request, from its head to its response. The steps and their order are those of Yoga. */
export class Exchange implements RequestSteps {
  readonly cycle: Cycle
  context: ServerContext
  /** The request of the client. A hook can replace it. */
  request: Request
  readonly #light: LightRequest
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  /** Set if equal bytes mean equal parameters. */
  #sent: Sent
  /** The response with which a hook ended the request. */
  #response: Response | undefined
  #requestHandler: RequestHandler | undefined
  #payload: RequestPayload | undefined
  #parseHooks: ParseHooks | undefined
  #head: Head | undefined

  constructor(cycle: Cycle, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.cycle = cycle
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.context = { req: incoming, res: outgoing, waitUntil: cycle.internals.waitUntil }
    this.request = this.#light = cycle.createRequest(incoming, outgoing)
  }

  runRequestHook(hook: Hook): MaybePromise<unknown> {
    return hook((this.#payload ??= this.#createPayload()))
  }

  runParseHook(hook: Hook, at: number): MaybePromise<unknown> {
    const { cycle, request, context } = this
    this.#parseHooks ??= new ParseHooks(cycle.internals.fetchAPI, request, context, cycle.parserFor(request))
    return this.#parseHooks.run(hook, at)
  }

  enter(alias: EndpointAlias, { path, endpoint }: ReturnType<EndpointAlias['paths']>): void {
    if (this.request === this.#light) {
      if (!isAt(path, this.#incoming.url)) return
      this.#light.lightState.moveTo(endpoint)
      alias.enter(this.context)
    } else enterAlias(alias, (this.#payload ??= this.#createPayload()))
    this.cycle.atAlias.add(this.context)
  }

  serve(): MaybePromise<void> {
    const { cycle } = this
    const begun = attempt<boolean>(
      () => {
        if (cycle.onRequest.length === 0) return true
        const run = runHooks(cycle.onRequest, this, undefined, () => this.#response !== undefined)
        return isPromise(run) ? run.then(() => true) : true
      },
      // As in Yoga, `onResponse` hooks do not see this response.
      (error) => after(this.#sendSafely(this.#failed(error)), () => false),
    )
    return after(begun, (isBegun) => (isBegun ? this.#readSmallBody() : undefined))
  }

  /** Everything after a small body has arrived is synchronous, unless a plugin or a resolver takes time. */
  #readSmallBody(): MaybePromise<void> {
    const { lightState } = this.#light
    const isRead = this.#response !== undefined || lightState.request !== undefined
    const kind = isRead ? undefined : this.cycle.kindOf(this.#incoming)
    if (kind === 'target') this.#sent = this.#incoming.url
    if (kind !== 'small') return this.#finish()
    return lightState.read().then(
      (bytes) => {
        this.#sent = lightState.received = bytes
        return this.#finish()
      },
      () => this.#finish(),
    )
  }

  #finish(): MaybePromise<void> {
    let responded: MaybePromise<Response | Written>
    // This is `attempt` without its two functions, as is the next one: most requests are synchronous here.
    try {
      responded = this.#respond()
      if (isPromise(responded)) responded = responded.catch((error) => this.#failed(error))
    } catch (error) {
      responded = this.#failed(error)
    }
    return this.#sendSafely(responded)
  }

  #sendSafely(responded: MaybePromise<Response | Written>): MaybePromise<void> {
    const { logger } = this.cycle.internals
    try {
      const sent = isPromise(responded)
        ? responded.then((response) => this.#send(response))
        : this.#send(responded)
      return isPromise(sent) ? sent.catch((error) => logger.error(error)) : undefined
    } catch (error) {
      logger.error(error)
      return undefined
    }
  }

  #failed(error: unknown): Response {
    return failedResponse(error, this.#outgoing, this.cycle.internals)
  }

  #respond(): MaybePromise<Response | Written> {
    const { unhandledRoute } = this.cycle
    const isReplaced = this.request !== this.#light && !this.#response
    if (!isReplaced || !unhandledRoute) return this.#answer()
    return after(this.runRequestHook(unhandledRoute), () => this.#answer())
  }

  #answer(): MaybePromise<Response | Written> {
    const handler = this.#requestHandler
    const { request, context } = this
    const response = this.#response ?? (handler ? handler(request, context) : this.#handle(request, context))
    return isPromise(response) ? response.then((given) => this.#responded(given)) : this.#responded(response)
  }

  /** Converts a request to a response. Thrown errors become the errors of a result. */
  #handle(request: Request, context: ServerContext): MaybePromise<Response | Written> {
    const { cycle } = this
    this.request = request
    this.context = context
    const fail = (error: unknown): MaybePromise<Response> =>
      cycle.processResult({ errors: toErrors(error, cycle.internals) }, request, context)
    try {
      const parsed = this.#parse()
      return isPromise(parsed) ? parsed.catch(fail) : parsed
    } catch (error) {
      return fail(error)
    }
  }

  /** Runs `onRequestParse` and the parser. */
  #parse(): MaybePromise<Response | Written> {
    this.#parseHooks = undefined
    const checked = runHooks(
      this.cycle.onRequestParse,
      this,
      undefined,
      () => this.#parseHooks?.response !== undefined,
    )
    return isPromise(checked) ? checked.then(() => this.#readBody()) : this.#readBody()
  }

  #readBody(): MaybePromise<Response | Written> {
    if (this.#parseHooks?.response) return this.#parseHooks.response
    const limited = this.#limitBody()
    return isPromise(limited) ? limited.then(() => this.#read()) : this.#read()
  }

  /** Limits the body. A body with a Content-Length is not counted, because Node ends it at that length. */
  #limitBody(): MaybePromise<unknown> {
    const { request, cycle } = this
    const { sizeLimit, bodyChecks, methodHook } = cycle
    if (request.method === 'GET') return undefined
    const light = lightOf(request)
    if (!light || light.lightState.request) {
      const hooks = [sizeLimit?.hook, methodHook].flatMap((hook) => hook ?? [])
      return runHooks(
        hooks.map((hook) => () => this.runParseHook(hook, Infinity)),
        this,
      )
    }
    const contentLength = request.headers.get('content-length')
    sizeLimit?.checkHeader(contentLength)
    for (const check of bodyChecks) {
      if (contentLength === null) light.lightState.addSizeCheck(check)
      else check(Number(contentLength))
    }
    if (contentLength === null && sizeLimit) light.lightState.addSizeCheck(sizeLimit.check)
    return undefined
  }

  #read(): MaybePromise<Response | Written> {
    const { cycle, request } = this
    const isUsual = request === this.#light && !this.#light.lightState.request && !this.#parseHooks?.isTouched
    if (!isUsual) this.#sent = undefined
    const sent = this.#sent
    const body = sent === undefined ? undefined : cycle.bodies?.get(sent)
    if (body) return this.#execute(body.params(), body)
    const given = this.#parseHooks?.chosen
    let parser = given?.parser ?? cycle.parserFor(request)
    if (!parser) {
      const init = { status: 415, statusText: 'Unsupported Media Type' }
      return new cycle.internals.fetchAPI.Response(null, init)
    }
    for (const { at, wrap } of cycle.parserWrappers)
      if (!given || at > given.at) parser = wrap(parser, request, this.context)
    // Yoga's parser reports the errors of invalid bodies.
    const isYogas = parser === cycle.parsers?.json && sent instanceof Buffer
    return after((isYogas && parseObject(sent)) || parser(request), (params) => this.#parsed(params))
  }

  #parsed(params: unknown): MaybePromise<Response | Written> {
    if (isResponse(params)) return params
    const { batchHook } = this.cycle
    const counted = Array.isArray(params) && batchHook ? this.runParseHook(batchHook, Infinity) : undefined
    return after(counted, () => {
      if (!this.#parseHooks?.hasDoneHooks) return this.#execute(params)
      this.#sent = undefined
      return after(this.#parseHooks.done(params), (changed) => this.#execute(changed))
    })
  }

  #execute(params: unknown, body?: KnownBody): MaybePromise<Response | Written> {
    const { cycle, request, context } = this
    if (!Array.isArray(params)) {
      const sendsParts = !this.#requestHandler && !cycle.othersRespond && !this.#cors
      return new OperationStep(cycle, request, context, params, body).serve(this.#sent, sendsParts)
    }
    const results = params.map((each: unknown) =>
      attempt(
        () => new OperationStep(cycle, request, Object.create(context) as ServerContext, each).execute(),
        (error) => ({ errors: toErrors(error, cycle.internals) }),
      ),
    )
    return Promise.all(results).then((all) => cycle.processResult(all, request, context))
  }

  /** Runs `onResponse`. A result that no hook of another plugin can see needs no `Response` object. */
  #responded(given: Response | Written): MaybePromise<Response | Written> {
    const { cycle, request, context } = this
    const cors = this.#cors
    if (isWritten(given) && !cycle.othersRespond && !cors) {
      this.#head = this.#createHead(given)
      return given
    }
    const payload = {
      request,
      response: this.#toResponse(given),
      serverContext: context,
      setResponse(response: Response) {
        payload.response = response
      },
      fetchAPI: cycle.internals.fetchAPI,
    }
    const hooks = cors ? [cors, ...cycle.onResponse] : cycle.onResponse
    return after(runHooks(hooks, payload), () => payload.response)
  }

  #toResponse(given: Response | Written): Response {
    if (!isWritten(given)) return given
    return this.cycle.createResponse(given.text ?? '', given.mediaType ?? '')
  }

  /** Yoga's CORS hook, for requests with an `Origin` header. */
  get #cors(): Hook | undefined {
    return this.#incoming.headers.origin === undefined ? undefined : this.cycle.server.cors
  }

  #createHead({ text, mediaType, stream }: Written): Head {
    const { responds } = this.cycle
    const length = typeof text === 'string' ? Buffer.byteLength(text) : (text?.byteLength ?? 0)
    const contentType = `${mediaType}; charset=utf-8`
    if (responds.length === 0)
      return {
        status: 200,
        lines: stream?.headers ?? { 'Content-Type': contentType, 'content-length': String(length) },
      }
    const headers = new AnswerHeaders(
      stream ? linesOf(stream.headers) : ['content-type', contentType, 'content-length', String(length)],
    )
    const response = { status: 200, headers }
    for (const respond of responds) {
      if (respond(this, response) !== 304) continue
      response.status = 304
      for (const name of ['content-type', 'content-length']) headers.delete(name)
    }
    return { status: response.status, lines: headers.lines }
  }

  #send(given: Response | Written): MaybePromise<void> {
    const outgoing = this.#outgoing
    if (!isWritten(given)) return sendResponse(given, outgoing, this.#incoming)
    const { text, stream, operation } = given
    const { status, lines } = this.#head as Head
    if (outgoing.destroyed || outgoing.writableEnded) return stream?.leave()
    outgoing.writeHead(status, status === 200 ? 'OK' : 'Not Modified', lines as string[])
    // Node sends no body with status 304.
    if (!stream) return void outgoing.end(text)
    sendParts(stream, this.#incoming, outgoing, (part) => {
      for (const hear of this.cycle.server.partsSeen) hear(operation, part)
    })
  }

  #createPayload(): RequestPayload {
    const { fetchAPI } = this.cycle.internals
    const handle: RequestHandler = (request, context) =>
      after(this.#handle(request, context), (given) => this.#toResponse(given))
    const payload = {
      request: this.request,
      setRequest: (request: Request) => {
        payload.request = this.request = request
      },
      serverContext: this.context,
      fetchAPI,
      url: lazyUrl(fetchAPI, this.request),
      requestHandler: handle,
      setRequestHandler: (handler: RequestHandler) => {
        payload.requestHandler = this.#requestHandler = handler
      },
      endResponse: (response: Response | undefined) => {
        this.#response = response
      },
    }
    return payload as unknown as RequestPayload
  }
}

function isWritten(given: Response | Written): given is Written {
  return 'operation' in given
}

function isAt(path: string, target = ''): boolean {
  return target.startsWith(path) && (target.length === path.length || target[path.length] === '?')
}

function parseObject(body: Buffer): object | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function linesOf(headers: Readonly<Record<string, string>>): string[] {
  const lines: string[] = []
  for (const name of Object.keys(headers)) lines.push(name.toLowerCase(), headers[name] as string)
  return lines
}

/** The `onRequestParse` hooks of plugins without a behaviour, for one request. */
class ParseHooks {
  /** The response with which a hook ended the request. */
  response: Response | undefined
  /** The parser that a hook set, with the position of its plugin. */
  chosen: { readonly parser: RequestParser; readonly at: number } | undefined
  /** The position of the running hook. */
  #at = 0
  readonly #doneHooks: Hook[] = []
  readonly #payload: object

  constructor(
    fetchAPI: FetchAPI,
    request: Request,
    serverContext: ServerContext,
    requestParser: RequestParser | undefined,
  ) {
    const payload = {
      request,
      url: lazyUrl(fetchAPI, request),
      requestParser,
      serverContext,
      setRequestParser: (parser: RequestParser) => {
        payload.requestParser = parser
        this.chosen = { parser, at: this.#at }
      },
      endResponse: (response: Response) => {
        this.response = response
      },
      fetchAPI,
    }
    this.#payload = payload
  }

  /** Whether a hook changes how the parameters are read. */
  get isTouched(): boolean {
    return this.chosen !== undefined || this.hasDoneHooks
  }

  get hasDoneHooks(): boolean {
    return this.#doneHooks.length > 0
  }

  run(hook: Hook, at: number): MaybePromise<void> {
    this.#at = at
    return after(hook(this.#payload), (returned) => {
      const { onRequestParseDone } = Object(returned) as { readonly onRequestParseDone?: Hook }
      if (onRequestParseDone) this.#doneHooks.push(onRequestParseDone)
    })
  }

  /** Runs the `onRequestParseDone` hooks, and returns the parameters. */
  done(params: unknown): MaybePromise<unknown> {
    const payload = {
      requestParserResult: params,
      setRequestParserResult(result: unknown) {
        payload.requestParserResult = result
      },
    }
    return after(runHooks(this.#doneHooks, payload), () => payload.requestParserResult)
  }
}
