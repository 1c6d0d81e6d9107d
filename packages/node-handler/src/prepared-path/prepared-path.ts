import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Asked, Operation, OperationParams, Others } from '@vinyasa/pipeline'
import { notePassed, type Passed } from '../fast-path/passed.ts'
import type { LightRequest } from '../http/light-request.ts'
import { readBody } from '../http/read-body.ts'
import { after, attempt, type MaybePromise } from '@vinyasa/base'
import type { ServerContext } from '../yoga/yoga-5.ts'
import { askedBy, findAsked, readAsked } from './asked-operation.ts'
import type { KnownBody } from './known-bodies.ts'
import { runParamsHooks, runParseHooks, runRequestHooks } from './others-hooks.ts'
import { type PathServer, type PathServerOptions, readPathServer } from './path-server.ts'
import { PreparedRun } from './prepared-run.ts'
import { readParams } from './read-params.ts'

/** Undefined: the request is not for this path. */
export type TakePrepared = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> | undefined

/** The way of requests for prepared queries, or why there is none. */
export function openPreparedPath(options: PathServerOptions): TakePrepared | readonly string[] {
  const server = readPathServer(options)
  if (!('fastPath' in server)) return server
  return (incoming, outgoing) =>
    server.allowsHead(incoming)
      ? Promise.resolve(new PreparedRequest(server, incoming, outgoing).serve())
      : undefined
}

/** One request, until it is known what it asks for. From then on it is a {@link PreparedRun}. */
class PreparedRequest {
  readonly #server: PathServer
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  readonly #context: ServerContext
  readonly #bytes: Promise<Buffer> | undefined
  readonly #request: LightRequest
  readonly #passed: Passed | undefined

  constructor(server: PathServer, incoming: IncomingMessage, outgoing: ServerResponse) {
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
    if (!this.#passed || others.onRequestParse.length === 0) return this.#read(sent)
    const parser = typeof sent === 'string' ? parseTarget : parseBody
    const { fetchAPI } = internals
    const isUsual = runParseHooks(others.onRequestParse, this.#passed, this.#context, { fetchAPI, parser })
    return after(isUsual, (usual) => (usual ? this.#read(sent) : this.#ordinary()))
  }

  #read(sent: Buffer | string): MaybePromise<void> {
    const { others, bodies } = this.#server
    const body = others.seesParameters ? undefined : bodies.get(sent)
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
  #change(params: OperationParams, passed: Passed, sent: Buffer | string): MaybePromise<void> {
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

  #begin(asked: Asked | undefined, sent: Buffer | string, body: KnownBody | undefined): MaybePromise<void> {
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
