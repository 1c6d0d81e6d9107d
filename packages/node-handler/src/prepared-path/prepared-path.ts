import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Operation, OperationParams } from '@vinyasa/pipeline'
import type { HookedRequest } from '../fast-path/hooked-request.ts'
import { OnParams } from '../hooks/on-params.ts'
import { OnRequestParse } from '../hooks/on-request-parse.ts'
import type { LightRequest } from '../http/light-request.ts'
import { readBody } from '../http/read-body.ts'
import { after, attempt, type MaybePromise } from '@vinyasa/base'
import type { ServerContext } from '../yoga/yoga-5.ts'
import { askedBy, findAsked, readAsked } from './asked-operation.ts'
import type { KnownBody } from './known-bodies.ts'
import { type PathServer, type PathServerOptions, readPathServer } from './path-server.ts'
import { PreparedRun } from './prepared-run.ts'
import { readParams } from './read-params.ts'

/** Undefined: the request is not for this path. */
export type TakePrepared = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> | undefined

/** The way of requests for prepared operations, or why there is none. */
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
  /** The request as hooks see it; made when the first one is called. */
  #hooked: HookedRequest | undefined

  constructor(server: PathServer, incoming: IncomingMessage, outgoing: ServerResponse) {
    const { internals, fastPath } = server
    this.#server = server
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#context = { req: incoming, res: outgoing, waitUntil: internals.waitUntil }
    this.#bytes = incoming.method === 'GET' ? undefined : readBody(incoming, undefined)
    this.#request = fastPath.createRequest(incoming, outgoing, this.#bytes)
  }

  serve(): MaybePromise<void> {
    const { onRequest } = this.#server.others
    for (const receive of this.#server.receives) receive(this.#request, this.#context)
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

  /** Other people's hooks may ask for something else. */
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
    const asked = body ? askedBy(body, given) : findAsked(this.#server, given, this.#request.method)
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
