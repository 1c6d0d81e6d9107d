import type { FetchAPI } from 'graphql-yoga'
import type { Hook } from '@vinyasa/core/pipeline'
import { lazyUrl } from '../http/request-url.ts'
import type { HookRequest, ServerContext } from '../yoga/yoga-5.ts'
import type { RequestParser } from './body-choices.ts'
import { HookStep } from './hook-step.ts'

/** The `onRequestParse` step of one request. */
export class OnRequestParse extends HookStep {
  /** Reads the parameters of the request. `undefined` means that no parser supports the request. */
  requestParser: RequestParser | undefined
  /** The `onRequestParseDone` hooks that `onRequestParse` hooks returned. */
  readonly doneHooks: Hook[] = []
  protected readonly payload: object
  readonly #given: RequestParser | undefined

  /** Creates the step. `parser` is the parser that Yoga's hooks would choose; these hooks then do not run. */
  constructor(
    request: HookRequest,
    serverContext: ServerContext,
    parser: RequestParser | undefined,
    fetchAPI: FetchAPI,
  ) {
    super()
    this.requestParser = this.#given = parser
    const payload = {
      request,
      url: lazyUrl(fetchAPI, request),
      requestParser: parser,
      serverContext,
      setRequestParser: (chosen: RequestParser) => {
        payload.requestParser = this.requestParser = chosen
      },
      endResponse: (given: Response) => {
        this.response = given
      },
      fetchAPI,
    }
    this.payload = payload
  }

  protected get isUntouched(): boolean {
    return !this.response && this.requestParser === this.#given && this.doneHooks.length === 0
  }

  protected override onReturn(returned: unknown): void {
    const { onRequestParseDone } = Object(returned) as { readonly onRequestParseDone?: Hook }
    if (onRequestParseDone) this.doneHooks.push(onRequestParseDone)
  }
}
