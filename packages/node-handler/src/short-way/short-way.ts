import type { IncomingMessage, ServerResponse } from 'node:http'
import { getOperationAST, type DocumentNode, type GraphQLSchema } from 'graphql'
import { notePassed, type Passed } from '../fast-path/passed.ts'
import { readBody } from '../http/read-body.ts'
import { after, attempt, type MaybePromise } from '@vinyasa/base'
import type { ServerContext } from '../yoga/yoga-5.ts'
import { askedBy, findAsked, readAsked, type AskedOperation } from './asked-operation.ts'
import type { KnownBody } from './known/known-bodies.ts'
import type { Others } from './others/others.ts'
import { runParamsHooks, runParseHooks, runRequestHooks } from './others/steps.ts'
import type { KnownOperation, ShortCall, ShortParams } from './part.ts'
import { readParams } from './short-params.ts'
import { ShortRun } from './short-run.ts'
import { readShortServer, type ShortServer, type ShortServerOptions } from './short-server.ts'
import type { LightRequest } from '../http/light-request.ts'

export interface ShortWay {
  /** Undefined: the request is not for it. */
  take(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> | undefined
  /** Remembers a valid operation that went through every hook. */
  learn(
    asked: Pick<ShortParams, 'query' | 'operationName'>,
    schema: GraphQLSchema,
    document: DocumentNode,
  ): void
}

export interface OpenedShortWay {
  readonly way: ShortWay | undefined
  readonly reasons: readonly string[]
}

/** The short way of a server, or why it has none. */
export function openShortWay(options: ShortServerOptions): OpenedShortWay {
  const server = readShortServer(options)
  if (!('run' in server)) return { way: undefined, reasons: server }
  const { isShort, state, isAdmitted, others } = server
  const shapes = others.seesLiterals ? undefined : state.shapes
  return {
    reasons: [],
    way: {
      take: (incoming, outgoing) =>
        isShort(incoming) ? Promise.resolve(new ShortRequest(server, incoming, outgoing).serve()) : undefined,
      learn(asked, schema, document) {
        const { query, operationName } = asked
        const definition = getOperationAST(document, operationName)
        if (definition?.operation !== 'query') return
        const operation: KnownOperation = { schema, document, definition, operationName }
        if (!isAdmitted(operation)) return
        state.known.add({ query, operationName }, operation)
        shapes?.add(asked, schema, document, isAdmitted)
      },
    },
  }
}

/** One request, until it is known what it asks for. From then on it is a {@link ShortRun}. */
class ShortRequest {
  readonly #server: ShortServer
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  readonly #context: ServerContext
  readonly #bytes: Promise<Buffer> | undefined
  readonly #request: LightRequest
  readonly #passed: Passed | undefined

  constructor(server: ShortServer, incoming: IncomingMessage, outgoing: ServerResponse) {
    const { internals, fastPath, others } = server
    this.#server = server
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#context = { req: incoming, res: outgoing, waitUntil: internals.waitUntil }
    this.#bytes = incoming.method === 'GET' ? undefined : readBody(incoming, undefined)
    this.#request = fastPath.createRequest(incoming, outgoing, this.#bytes)
    this.#passed = others.runBefore ? passedBy(others, this.#request) : undefined
  }

  serve(): MaybePromise<void> {
    const { onRequest } = this.#server.others
    if (!this.#passed || onRequest.length === 0) return this.#receive()
    const { fastPath, internals } = this.#server
    const { requestHandler } = fastPath
    const { fetchAPI } = internals
    const isUsual = runRequestHooks(onRequest, this.#passed, this.#context, { fetchAPI, requestHandler })
    return after(isUsual, (usual) => (usual ? this.#receive() : this.#ordinary()))
  }

  #receive(): MaybePromise<void> {
    if (!this.#bytes) return this.#identify(this.#incoming.url ?? '')
    return this.#bytes.then(
      (body) => this.#identify(body),
      () => this.#ordinary(),
    )
  }

  /** `sent`: what stands in a body, or in the target of a GET. */
  #identify(sent: Buffer | string): MaybePromise<void> {
    const isKnown = this.#all(this.#server.identifies)
    return after(isKnown, (known) => (known ? this.#parse(sent) : this.#ordinary()))
  }

  /** False as soon as one of them says so, or fails. */
  #all(checks: ShortServer['identifies']): MaybePromise<boolean> {
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
    if (!this.#passed || others.onRequestParse.length === 0) return this.#read(sent)
    const parser = typeof sent === 'string' ? parseTarget : parseBody
    const { fetchAPI } = internals
    const isUsual = runParseHooks(others.onRequestParse, this.#passed, this.#context, { fetchAPI, parser })
    return after(isUsual, (usual) => (usual ? this.#read(sent) : this.#ordinary()))
  }

  #read(sent: Buffer | string): MaybePromise<void> {
    const { others, state } = this.#server
    const body = others.seesParameters ? undefined : state.bodies.get(sent)
    const params = body ? body.params() : readAsked(this.#server, sent)
    if (!params) return this.#ordinary()
    const isAdmitted = this.#all(this.#server.admits)
    return after(isAdmitted, (admitted) => {
      if (!admitted) return this.#ordinary()
      if (this.#passed && others.onParams.length > 0) return this.#change(params, this.#passed, sent)
      return this.#begin(body ? askedBy(body, params) : findAsked(this.#server, params), sent, body)
    })
  }

  /** Other people's hooks may ask for something else. */
  #change(params: ShortParams, passed: Passed, sent: Buffer | string): MaybePromise<void> {
    const { others, internals, fastPath } = this.#server
    const isUsual = runParamsHooks(others.onParams, passed, this.#context, {
      fetchAPI: internals.fetchAPI,
      params,
      paramsHandler: fastPath.handleParams,
    })
    return after(isUsual, (usual) => {
      const chosen = usual ? readParams(() => passed.params?.params, []) : undefined
      return chosen ? this.#begin(findAsked(this.#server, chosen), sent, undefined) : this.#ordinary()
    })
  }

  #begin(
    asked: AskedOperation | undefined,
    sent: Buffer | string,
    body: KnownBody | undefined,
  ): MaybePromise<void> {
    if (!asked || this.#outgoing.destroyed) return this.#ordinary()
    const { callJudges, others } = this.#server
    const { params, operation } = asked
    const context = this.#context
    context['request'] = this.#request
    context['params'] = asked.sent
    const call: ShortCall = {
      operation,
      params,
      request: this.#request,
      context,
      sameBody: body,
      wasExecuted: false,
      isSeenByOthers: others.seesResults,
    }
    for (const admits of callJudges) if (!admits(call)) return this.#ordinary()
    const run = new ShortRun(this.#server, call, asked, this.#incoming, this.#outgoing)
    return run.serve(body || others.seesParameters ? undefined : sent)
  }

  #ordinary(): Promise<void> {
    if (this.#passed) notePassed(this.#context, this.#passed)
    return this.#server.fastPath.goOn(this.#request, this.#context, this.#incoming, this.#outgoing)
  }
}

function passedBy(others: Others, request: LightRequest): Passed {
  return {
    isOthers: (hook) => others.has(hook),
    request,
    requestHandler: undefined,
    response: undefined,
    thrown: undefined,
    parse: undefined,
    params: undefined,
  }
}
