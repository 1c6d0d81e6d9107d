import { after, attempt, isAsyncIterable, isPromise, type MaybePromise } from '@vinyasa/core'
import {
  type Asked,
  type Hook,
  type Operation,
  type OperationParams,
  OperationRun,
  type ParamsHandler,
  type PartStream,
  runHooks,
  toErrors,
} from '@vinyasa/core/pipeline'
import { isBody, isPlain, type PlainResult } from '../yoga/yogas-choices.ts'
import type { ServerContext } from '../yoga/yoga-5.ts'
import { areUsual, type Cycle, type ParamsSteps } from './cycle.ts'
import type { KnownBody } from './known-bodies.ts'

/** A complete result as bytes, or a stream of parts, before the head of the response is made. */
export interface Written {
  readonly text?: string | Uint8Array | undefined
  readonly mediaType?: string | undefined
  readonly stream?: PartStream | undefined
  readonly operation: Operation
}

/** The steps of one operation: its parameters, its execution, and the hooks for its result. */
export class OperationStep implements ParamsSteps {
  readonly cycle: Cycle
  readonly request: Request
  readonly context: ServerContext
  params: unknown
  body: KnownBody | undefined
  #handler: ParamsHandler
  #result: unknown
  #payload: { params: unknown; paramsHandler: ParamsHandler } | undefined
  /** Set if a cached document is executed. */
  #asked: Asked | undefined
  #run: OperationRun | undefined

  constructor(cycle: Cycle, request: Request, context: ServerContext, params: unknown, body?: KnownBody) {
    this.cycle = cycle
    this.request = request
    this.context = context
    this.params = params
    this.body = body
    this.#handler = cycle.handleParams
  }

  runHook(hook: Hook): MaybePromise<void> {
    const payload = (this.#payload ??= this.#createPayload())
    // Yoga creates a payload for each hook, so that assignments to it have no effect.
    payload.params = this.params
    payload.paramsHandler = this.#handler
    return after(hook(payload), () => {
      // A hook can also assign to the parameters themselves.
      if (!this.body?.ask(this.params as OperationParams)) this.body = undefined
    })
  }

  #createPayload() {
    const { request, context, cycle } = this
    const { fetchAPI } = cycle.internals
    const payload = {
      params: this.params,
      request,
      setParams: (params: unknown) => {
        payload.params = this.params = params
      },
      paramsHandler: this.#handler,
      setParamsHandler: (handler: ParamsHandler) => {
        payload.paramsHandler = this.#handler = handler
      },
      setResult: (result: unknown) => {
        this.#result = result
      },
      fetchAPI,
      context,
    }
    return payload
  }

  /** Executes the operation. Hooks of all plugins receive its result, unless it is that of a cached document. */
  execute(): MaybePromise<unknown> {
    return this.#begin(() => this.#handle())
  }

  /** Executes the operation, and writes its result. `sendsParts` is false if a hook must receive a `Response`. */
  serve(sent: Buffer | string | undefined, sendsParts: boolean): MaybePromise<Response | Written> {
    const executed = this.#begin(() => {
      const asked = this.#handler === this.cycle.handleParams ? this.#find() : undefined
      return asked ? this.#execute(asked) : this.#handle()
    })
    return after(executed, (result) => {
      if (!this.#run) return this.cycle.processResult(result, this.request, this.context)
      const written = this.#write(result, sendsParts)
      if (sent !== undefined && !this.body && (isPlain(result) || 'stream' in written)) this.#remember(sent)
      return written
    })
  }

  #begin(execute: () => MaybePromise<unknown>): MaybePromise<unknown> {
    const begun = runHooks(this.cycle.onParams, this)
    return isPromise(begun) ? begun.then(() => this.#check(execute)) : this.#check(execute)
  }

  #check(execute: () => MaybePromise<unknown>): MaybePromise<unknown> {
    const { paramsHook } = this.cycle
    const proceed = (): MaybePromise<unknown> => (this.#result ? this.#hear(this.#result) : execute())
    if (this.body || !paramsHook || areUsual(this.params)) return proceed()
    // Yoga's hook refuses parameters of other types.
    return after(this.runHook(paramsHook), proceed)
  }

  #handle(): MaybePromise<unknown> {
    const { request, context, params } = this
    const result = this.#handler({ request, params: params as never, context })
    return after(result, (given) => this.#hear(given))
  }

  #hear(result: unknown): MaybePromise<unknown> {
    return this.#runResultHooks(this.cycle.internals.onExecutionResult, result)
  }

  /** Each hook receives the result of the previous hook. */
  #runResultHooks(hooks: readonly Hook[], result: unknown): MaybePromise<unknown> {
    if (hooks.length === 0) return result
    const { request, context } = this
    const payload = {
      result,
      setResult(given: unknown) {
        payload.result = given
      },
      request,
      context,
    }
    return after(runHooks(hooks, payload), () => payload.result)
  }

  #find(): Asked | undefined {
    const { cycle, request, body } = this
    const params = this.params as OperationParams
    if (body) return { params, prepared: body.prepared, sent: params, lifted: undefined }
    return areUsual(params) ? cycle.find(params, request.method) : undefined
  }

  #execute(asked: Asked): MaybePromise<unknown> {
    const { cycle, request, context, body } = this
    const { params, prepared } = asked
    context['request'] = request
    context['params'] = asked.sent
    const operation: Operation = {
      prepared,
      params,
      request,
      context,
      sameBytes: body,
      progress: { wasExecuted: false, isFinal: false, isRefused: false },
      isObserved: cycle.server.others.seesResults,
    }
    this.#asked = asked
    const run = (this.#run = new OperationRun(cycle.server, operation, asked))
    const { onExecutionResult } = cycle.server.others
    if (onExecutionResult.length === 0) return run.start()
    return after(run.start(), (result) => run.orErrors(() => this.#runResultHooks(onExecutionResult, result)))
  }

  /** Writes the result of a cached document. */
  #write(result: unknown, sendsParts: boolean): MaybePromise<Response | Written> {
    const { cycle, request, context } = this
    const run = this.#run as OperationRun
    const { operation } = run
    const isOthers = cycle.server.others.processesResults
    if (isAsyncIterable(result)) {
      const stream = isOthers || !sendsParts ? undefined : cycle.streamOf(operation, result)
      if (stream) return { stream, operation }
    } else if (!isOthers && isPlain(result)) {
      const mediaType = cycle.mediaTypeOf(request, context)
      const text = mediaType === undefined ? undefined : textOf(result)
      if (text !== undefined) return { text, mediaType, operation }
    }
    const { processResult, internals } = cycle
    return attempt<Response>(
      () => processResult(run.seen(result), request, context),
      (error) => processResult({ errors: toErrors(error, internals) }, request, context),
    )
  }

  /** Caches the parameters of a body, so that equal bytes are not parsed and checked again. */
  #remember(sent: Buffer | string): void {
    const { prepared, params, lifted } = this.#asked as Asked
    const { operation } = this.#run as OperationRun
    // If a plugin replaced the document, the body does not determine the document.
    const isOther = operation.prepared !== prepared
    // Bodies with changing variables are not worth the memory.
    if (lifted || isOther || (operation.progress.wasExecuted && params.variables)) return
    this.cycle.remember(sent, prepared, this.request)
  }
}

/** Returns `undefined` if Yoga must serialize the result, or if it cannot be serialized. */
function textOf(result: PlainResult): string | Uint8Array | undefined {
  const { stringify = JSON.stringify } = result
  try {
    const text = stringify(result)
    return isBody(text) ? text : undefined
  } catch {
    // The processor fails in the same way, and its error is sent.
    return undefined
  }
}
