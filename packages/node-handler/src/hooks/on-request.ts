import type { FetchAPI } from 'graphql-yoga'
import { lazyUrl } from '../http/request-url.ts'
import type { HookRequest, RequestHandler, ServerContext } from '../yoga/yoga-5.ts'
import { HookStep } from './hook-step.ts'

/** `onRequest` of one request. */
export class OnRequest extends HookStep {
  request: HookRequest
  /** Answers the request where no hook does; a hook may have wrapped it. */
  requestHandler: RequestHandler
  protected readonly payload: object
  readonly #given: Pick<OnRequest, 'request' | 'requestHandler'>

  constructor(
    request: HookRequest,
    serverContext: ServerContext,
    requestHandler: RequestHandler,
    fetchAPI: FetchAPI,
  ) {
    super()
    this.request = request
    this.requestHandler = requestHandler
    this.#given = { request, requestHandler }
    const payload = {
      request,
      setRequest: (given: HookRequest) => {
        payload.request = this.request = given
      },
      serverContext,
      fetchAPI,
      url: lazyUrl(fetchAPI, request),
      requestHandler,
      setRequestHandler: (given: RequestHandler) => {
        payload.requestHandler = this.requestHandler = given
      },
      endResponse: (given: Response | undefined) => {
        this.response = given
      },
    }
    this.payload = payload
  }

  protected get isUntouched(): boolean {
    const { request, requestHandler } = this.#given
    return !this.response && this.request === request && this.requestHandler === requestHandler
  }
}
