import { type ExecutionArgs, getOperationAST, validate } from 'graphql'
import { mapAsyncIterator, type Plugin } from 'graphql-yoga'
import {
  after,
  attempt,
  flag,
  isAsyncIterable,
  type KnownOptions,
  type MaybePromise,
  refuseWrongOptions,
  type Room,
} from '../index.ts'
import { createDocumentRoom, holdErrors } from './document-room.ts'
import { Known } from './known.ts'
import type { interpreter } from './around.ts'
import { type ParamsHandler, toErrors } from './yoga.ts'
import { type Operation, type OperationParams, withArgs } from './operation.ts'
import { OperationRun, subscribeBy } from './operation-run.ts'
import { PipelineServer } from './server.ts'
import { validateInOneWalk } from '../documents/index.ts'
import type { Behaviour } from './behaviour.ts'

/**
 * Runs every operation of a Yoga server. It replaces Yoga's own parameter handler. It parses, validates, builds the
 * context and executes. It skips a step if the result is cached and no plugin hooks into the step.
 */
export class Pipeline {
  readonly server: PipelineServer
  /** Cached documents; `undefined` disables the cache. */
  readonly known: Known | undefined

  constructor(server: object, known: Known | undefined) {
    this.server = new PipelineServer(server)
    this.known = known
  }

  /** Handles the parameters of one operation instead of Yoga. */
  readonly handleParams: ParamsHandler = ({ request, params: given, context }) => {
    // Yoga also treats an empty name in the target of a GET request as a missing name.
    const asked = given as OperationParams
    const params = asked.operationName === '' ? { ...asked, operationName: undefined } : asked
    if (context['request'] !== request) context['request'] = request
    context['params'] = params
    return attempt(
      () => {
        const executed = this.#handle(request, params, context)
        return after(executed, (result) => (isAsyncIterable(result) ? this.#stream(result) : result))
      },
      (error) => this.#failed(error),
    )
  }

  /**
   * Executes an operation for a plugin with its own transport, which calls Envelop. The hooks of all plugins already
   * wrap `execute`.
   */
  executeFor(args: ExecutionArgs, execute: typeof interpreter): MaybePromise<unknown> {
    const { schema, document, operationName, variableValues: variables } = args
    const definition = getOperationAST(document, operationName)
    if (!definition || definition.operation === 'subscription') return execute(args)
    const prepared = { schema, document, definition, operationName }
    const params = { query: '', variables }
    const context = Object(args.contextValue) as Record<string, unknown>
    const request = (context['request'] ??= new Request('http://localhost/', headOf(context))) as Request
    const operation = withArgs(
      { ...operationOf({ prepared, params, request, context }), isOwnWay: true },
      args,
    )
    const run = new OperationRun(
      this.server,
      operation,
      { sent: params, lifted: undefined },
      this.server.around(execute),
    )
    return after(run.execute(), (result) => run.seen(result))
  }

  #failed(error: unknown): unknown {
    return { errors: toErrors(error, this.server.yoga) }
  }

  #stream(parts: AsyncIterable<unknown>): AsyncIterable<unknown> {
    return mapAsyncIterator(
      parts,
      (part) => part,
      (error: unknown) => {
        if ((error as Error).name === 'AbortError') throw error
        return this.#failed(error)
      },
    )
  }

  #handle(
    request: Request,
    params: OperationParams,
    context: Record<string, unknown>,
  ): MaybePromise<unknown> {
    const asked = this.#isKnowable(params)
      ? this.known?.find(params, request.method, this.server.others.seesLiterals)
      : undefined
    if (!asked) return this.#prepare(request, params, context)
    const { prepared } = asked
    const operation = operationOf({ prepared, params: asked.params, request, context })
    const run = new OperationRun(this.server, operation, asked)
    return after(run.start(), (result) => run.seen(result))
  }

  #isKnowable({ query, operationName }: OperationParams): boolean {
    if (typeof query !== 'string' || this.server.others.instruments) return false
    return operationName == null || typeof operationName === 'string'
  }

  /** Prepares and executes an operation with all hooks of Envelop. */
  #prepare(
    request: Request,
    params: OperationParams,
    context: Record<string, unknown>,
  ): MaybePromise<unknown> {
    const { yoga, others, lifts } = this.server
    const enveloped = yoga.getEnveloped(context)
    const { schema } = enveloped
    const document = enveloped.parse(params.query)
    const errors = enveloped.validate(schema, document)
    if (errors.length > 0) {
      // Errors are not cached if hooks of other plugins, or schemas that they choose, can accept the document
      // later.
      if (this.#isKnowable(params) && !others.readsDocuments && !others.buildsContext)
        this.known?.add(params, schema, document, lifts, errors)
      holdErrors(document, errors)
      return { errors }
    }
    if (this.#isKnowable(params)) this.known?.add(params, schema, document, lifts)
    return after(enveloped.contextFactory(), (contextValue) => {
      const { variables: variableValues, operationName } = params
      const definition = getOperationAST(document, operationName)
      const args = { schema, document, contextValue, variableValues, operationName }
      if (definition?.operation === 'subscription') return subscribeBy(enveloped, args)
      if (!definition) return enveloped.execute(args)
      const prepared = { schema, document, definition, operationName }
      const built = contextValue as Record<string, unknown>
      const operation = operationOf({ prepared, params, request, context: built })
      const run = new OperationRun(this.server, operation, { sent: params, lifted: undefined })
      return after(run.execute(), (result) => run.seen(result))
    })
  }
}

function operationOf(given: Pick<Operation, 'prepared' | 'params' | 'request' | 'context'>): Operation {
  return {
    ...given,
    sameBytes: undefined,
    isObserved: true,
    progress: { wasExecuted: false, isFinal: false, isRefused: false },
  }
}

/** Returns the headers of the Node request, if the context has a request. */
function headOf({ req }: Readonly<Record<string, unknown>>): RequestInit {
  const { headers } = Object(req) as { readonly headers?: Readonly<Record<string, string | string[]>> }
  const lines = Object.entries(headers ?? {}).flatMap(([name, value]): [string, string][] =>
    name.startsWith(':') ? [] : [value].flat().map((one) => [name, one]),
  )
  return { headers: lines }
}

interface PipelineOptions {
  /**
   * Treats queries and mutations as equal if they differ only in the numbers and strings of their arguments. They are
   * executed with variables instead of these literals. It helps with clients that write values into their documents.
   * Literals stay if a plugin without a behaviour hooks into parsing, validation or execution, because it can read
   * them. Default false.
   */
  readonly liftLiterals?: boolean | undefined
  /**
   * Memory limit for cached documents. Other caches can share it. By default, the limit is 64 MiB and not
   * shared.
   */
  readonly room?: Room | undefined
}

const NAMES: KnownOptions<PipelineOptions> = { liftLiterals: flag, room: true }

const PIPELINE = Symbol.for('vinyasa.pipeline')

interface PipelinePlugin extends Plugin {
  readonly behaviour: Behaviour
  /** The list is empty, because the plugin does not change results by caller. */
  readonly readsHeaders: readonly string[]
  readonly [PIPELINE]: () => Pipeline | undefined
}

/**
 * Runs every operation of a Yoga server through one function. Documents are parsed and validated once, unless a
 * plugin hooks into that step. Functions in a plugin's `behaviour` replace its hooks; the hooks of other plugins run
 * as in Yoga. The other Vinyasa plugins add this plugin automatically. Its position in the list of plugins does not
 * matter.
 */
export function usePipeline(options: PipelineOptions = {}): Plugin {
  refuseWrongOptions('usePipeline', options, NAMES)
  const { liftLiterals = false, room } = options
  const known = new Known(room ?? createDocumentRoom(), liftLiterals)
  let pipeline: Pipeline | undefined
  const plugin: PipelinePlugin = {
    behaviour: {},
    readsHeaders: [],
    [PIPELINE]: () => pipeline,
    onYogaInit({ yoga }) {
      pipeline = new Pipeline(yoga, known)
      // `onParams` passes this handler to plugins. It runs after the `onParams` hooks of all plugins.
      Object.assign(yoga, { handleParams: pipeline.handleParams })
    },
    onSchemaChange() {
      known.clear()
    },
    // Only graphql's own function is replaced, not a function that another plugin has set.
    onValidate({ validateFn, setValidationFn }) {
      if (validateFn === validate) setValidationFn(validateInOneWalk as typeof validateFn)
    },
    // The pipeline does not execute operations through Envelop. This hook is called only for plugins with their
    // own transport.
    onExecute({ executeFn, setExecuteFn }) {
      const way = pipeline
      if (!way) return
      setExecuteFn(((args) => way.executeFor(args, executeFn as typeof interpreter)) as typeof executeFn)
    },
  }
  return plugin
}

/** Adds the pipeline plugin from `onPluginInit` of another plugin if the server does not have it. */
export function bringPipeline(init: { readonly plugins: unknown[] }): void {
  if (!init.plugins.some(isPipeline)) init.plugins.push(usePipeline())
}

/** Returns the pipeline of a server from the list of its plugins. */
export function pipelineOf(plugins: readonly unknown[]): Pipeline | undefined {
  return plugins.find(isPipeline)?.[PIPELINE]()
}

function isPipeline(plugin: unknown): plugin is PipelinePlugin {
  return PIPELINE in (Object(plugin) as object)
}
