import type { FetchAPI } from 'graphql-yoga'
import type { Hook, ParamsHandler } from '@vinyasa/pipeline'
import { lazyUrl } from '../http/request-url.ts'
import type { HookRequest, RequestHandler, ServerContext } from '../yoga/yoga-5.ts'
import type { RequestParser } from './body-choices.ts'
import { HookStep } from './hook-step.ts'

/** What the payload of `onRequest` and of `onRequestParse` has besides. */
interface Around {
  readonly serverContext: ServerContext
  readonly fetchAPI: FetchAPI
}

/** `onRequest` of one request. `handler` answers it where no hook does; a hook may have wrapped it. */
export class OnRequest extends HookStep {
  readonly payload: { request: HookRequest; requestHandler: RequestHandler }
  readonly #given: readonly [HookRequest, RequestHandler]

  constructor(request: HookRequest, handler: RequestHandler, { serverContext, fetchAPI }: Around) {
    super()
    this.#given = [request, handler]
    const payload = {
      request,
      setRequest: (given: HookRequest) => void (payload.request = given),
      serverContext,
      fetchAPI,
      url: lazyUrl(fetchAPI, request),
      requestHandler: handler,
      setRequestHandler: (given: RequestHandler) => void (payload.requestHandler = given),
      endResponse: (given: Response | undefined) => void (this.response = given),
    }
    this.payload = payload
  }

  protected get isUntouched(): boolean {
    const { request, requestHandler } = this.payload
    return request === this.#given[0] && requestHandler === this.#given[1]
  }
}

/** `onRequestParse` of one request. `parser`: the one that Yoga's own hooks choose, where they need not be asked. */
export class OnRequestParse extends HookStep {
  readonly payload: { requestParser: RequestParser | undefined }
  /** Hooks that want to know what was read. */
  readonly doneHooks: Hook[] = []
  readonly #given: RequestParser | undefined

  constructor(request: HookRequest, parser: RequestParser | undefined, { serverContext, fetchAPI }: Around) {
    super()
    this.#given = parser
    const payload = {
      request,
      url: lazyUrl(fetchAPI, request),
      requestParser: parser,
      serverContext,
      setRequestParser: (given: RequestParser) => void (payload.requestParser = given),
      endResponse: (given: Response) => void (this.response = given),
      fetchAPI,
    }
    this.payload = payload
  }

  protected get isUntouched(): boolean {
    return this.payload.requestParser === this.#given && this.doneHooks.length === 0
  }

  protected override onReturn = (returned: unknown): void => {
    const { onRequestParseDone } = Object(returned) as { readonly onRequestParseDone?: Hook }
    if (onRequestParseDone) this.doneHooks.push(onRequestParseDone)
  }
}

/** `onParams` of one operation. `handler` executes it where no hook has brought a result; a hook may have wrapped it. */
export class OnParams extends HookStep {
  readonly payload: { params: unknown; paramsHandler: ParamsHandler }
  result: unknown
  readonly #given: ParamsHandler

  constructor(
    params: unknown,
    handler: ParamsHandler,
    around: { readonly request: HookRequest; readonly context: ServerContext; readonly fetchAPI: FetchAPI },
  ) {
    super()
    this.#given = handler
    const { request, context, fetchAPI } = around
    const payload = {
      params,
      request,
      setParams: (given: unknown) => void (payload.params = given),
      paramsHandler: handler,
      setParamsHandler: (given: ParamsHandler) => void (payload.paramsHandler = given),
      setResult: (given: unknown) => void (this.result = given),
      fetchAPI,
      context,
    }
    this.payload = payload
  }

  protected get isUntouched(): boolean {
    return this.result === undefined && this.payload.paramsHandler === this.#given
  }
}
