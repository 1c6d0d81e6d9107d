import type { FetchAPI } from 'graphql-yoga'
import { after, type MaybePromise } from '@vinyasa/core'
import { type Hook, type RequestParser, runHooks } from '@vinyasa/core/pipeline'
import { lazyUrl } from '../http/request-url.ts'
import type { ServerContext } from '../yoga/yoga-5.ts'

/** The `onRequestParse` hooks of plugins without a behaviour, for one request. */
export class ParseHooks {
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
