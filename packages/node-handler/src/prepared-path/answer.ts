import type { IncomingMessage, ServerResponse } from 'node:http'
import { isBody, isPlain, type PlainResult } from '../hooks/on-result-process.ts'
import { sendResponse } from '../http/send-response.ts'
import { after, attempt, isAsyncIterable, type MaybePromise } from '@vinyasa/base'
import { type Hook, notModified, type OperationRun, type PartStream, toErrors } from '@vinyasa/pipeline'
import { runResponseHooks } from '../hooks/on-response.ts'
import { failedResponse } from '../yoga/last-catch.ts'
import { sendParts } from './send-parts.ts'
import { AnswerHeaders } from './answer-headers.ts'
import type { PathServer } from './path-server.ts'

interface ResponsePayload {
  readonly response: Response
  setResponse(response: Response): void
}

/** One answer on its way out. */
export class Answer {
  readonly #server: PathServer
  readonly #run: OperationRun
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  /** Yoga's hook for pages of other origins; undefined if it has nothing to add. */
  readonly #cors: Hook | undefined

  constructor(server: PathServer, run: OperationRun, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.#server = server
    this.#run = run
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#cors = incoming.headers.origin === undefined ? undefined : server.pipeline.cors
  }

  /** Writes a result. True where it is as usual: without errors, and nothing said how it is to be written. */
  send(result: unknown): MaybePromise<boolean> {
    const { others, fastPath, internals, mediaTypeOf } = this.#server
    const mediaType =
      mediaTypeOf(this.#run.operation.request.headers.get('accept') ?? '') ?? 'application/json'
    const stream = isAsyncIterable(result) ? this.#streamOf(result) : undefined
    if (stream) {
      this.#sendStream(stream)
      return true
    }
    const isPlainJson = !others.processesResults && isPlain(result) && mediaType.endsWith('json')
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

  /** False where nobody waits for the answer any more. */
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

  /** Node sends no body with 304. */
  #writeHead(headers: string[] | Readonly<Record<string, string>>, status = 200): boolean {
    const outgoing = this.#outgoing
    if (outgoing.destroyed || outgoing.writableEnded) return false
    outgoing.writeHead(status, status === 200 ? 'OK' : 'Not Modified', headers)
    return true
  }

  /**
   * Sends what plugins make of a response. What fails outside of the operation is answered with a status and
   * its name.
   */
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

  /** Returns what every plugin makes of a response, in their order. */
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

/** Undefined for what Yoga has to be asked about, or what cannot be written. */
function textOf(result: PlainResult): string | Uint8Array | undefined {
  const { stringify = JSON.stringify } = result
  try {
    const text = stringify(result)
    return isBody(text) ? text : undefined
  } catch {
    // The processor fails alike, and its error is answered.
    return undefined
  }
}

function linesOf(headers: Readonly<Record<string, string>>): string[] {
  const lines: string[] = []
  for (const name of Object.keys(headers)) lines.push(name.toLowerCase(), headers[name] as string)
  return lines
}
