import type { FetchAPI } from 'graphql-yoga'
import type { ParamsHandler } from '@vinyasa/core/pipeline'
import type { HookRequest, ServerContext } from '../yoga/yoga-5.ts'
import { HookStep } from './hook-step.ts'

/** The `onParams` step of one operation. */
export class OnParams extends HookStep {
  params: unknown
  /** Executes the parameters if no hook sets a result. A hook can have wrapped it. */
  paramsHandler: ParamsHandler
  result: unknown
  protected readonly payload: { params: unknown; paramsHandler: ParamsHandler }
  readonly #given: ParamsHandler

  constructor(
    params: unknown,
    request: HookRequest,
    context: ServerContext,
    paramsHandler: ParamsHandler,
    fetchAPI: FetchAPI,
  ) {
    super()
    this.params = params
    this.paramsHandler = this.#given = paramsHandler
    const payload = {
      params,
      request,
      setParams: (chosen: unknown) => {
        payload.params = this.params = chosen
      },
      paramsHandler,
      setParamsHandler: (handler: ParamsHandler) => {
        payload.paramsHandler = this.paramsHandler = handler
      },
      setResult: (result: unknown) => {
        this.result = result
      },
      fetchAPI,
      context,
    }
    this.payload = payload
  }

  /**
   * Reverts direct assignments to the payload. The next hook must not see them, because Yoga creates a payload for each
   * hook.
   */
  protected override onReturn(): void {
    this.payload.params = this.params
    this.payload.paramsHandler = this.paramsHandler
  }

  protected get isUntouched(): boolean {
    return this.result === undefined && this.paramsHandler === this.#given
  }
}
