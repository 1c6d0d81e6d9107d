import { after, attempt, type MaybePromise } from '@vinyasa/base'
import { passedOf, remaining } from './passed.ts'
import { runHooks } from './run-hooks.ts'
import { toErrors } from './to-errors.ts'
import type { Enveloped, HookRequest, ParamsHandler, ServerContext, YogaInternals } from '../yoga/yoga-5.ts'
import { type DocumentNode, getOperationAST, type GraphQLSchema } from 'graphql'
import { mapAsyncIterator } from 'graphql-yoga'
import type { PluginHooks } from '@vinyasa/yoga-internals'

export type ParamsPhase = (
  params: unknown,
  request: HookRequest,
  context: ServerContext,
) => MaybePromise<unknown>

/** Runs `onParams`, the execution with Envelop's hooks, and `onExecutionResult`; each item of a batch alone. */
export function createParamsPhase(internals: YogaInternals, handleParams: ParamsHandler): ParamsPhase {
  const { fetchAPI, onParams, onExecutionResult } = internals

  function resultOf(given: unknown, request: HookRequest, context: ServerContext): MaybePromise<unknown> {
    const before = passedOf(context)?.params
    if (before?.thrown) throw before.thrown.error
    let result: unknown = before?.result
    const setResult = (newResult: unknown): void => {
      result = newResult
    }
    const payload = {
      params: before ? before.params : given,
      request,
      setParams(params: unknown) {
        payload.params = params
      },
      paramsHandler: before?.paramsHandler ?? handleParams,
      setParamsHandler(handler: ParamsHandler) {
        payload.paramsHandler = handler
      },
      setResult,
      fetchAPI,
      context,
    }
    const hooks = before ? remaining(onParams, passedOf(context)) : onParams
    const executed = after(runHooks(hooks, payload), () => {
      const { params, paramsHandler } = payload
      return result || paramsHandler({ request, params, context })
    })
    return after(executed, (value) => {
      result = value
      if (onExecutionResult.length === 0) return result
      const seen = { result, setResult, request, context }
      // Each hook gets what the one before it made of the result.
      const follow = (): void => void (seen.result = result)
      return after(runHooks(onExecutionResult, seen, follow), () => result)
    })
  }

  return function execute(params, request, context) {
    if (!Array.isArray(params)) return resultOf(params, request, context)
    return Promise.all(
      params.map((each: unknown) =>
        attempt(
          () => resultOf(each, request, Object.create(context) as ServerContext),
          (error) => ({ errors: toErrors(error, internals) }),
        ),
      ),
    )
  }
}

interface Params {
  readonly query: string
  readonly variables?: unknown
  readonly operationName?: string | null
}

/** Told of each operation that was found valid, before it is executed. */
export type OnValid = (
  params: Pick<Params, 'query' | 'operationName'>,
  schema: GraphQLSchema,
  document: DocumentNode,
) => void

/** Parses, validates, builds the context and executes, through Envelop's hooks and in Yoga's order. */
export function createParamsHandler(internals: YogaInternals, onValid: OnValid): ParamsHandler {
  const { getEnveloped } = internals
  const validate = onlyYogaValidates(internals) ? createValidOnce() : validateAlways

  function run({ parse, schema, ...enveloped }: Enveloped, params: Params): MaybePromise<unknown> {
    const document = parse(params.query)
    const errors = validate(enveloped, schema, document)
    if (errors.length > 0) return { errors }
    onValid(params, schema, document)
    return after(enveloped.contextFactory(), (contextValue) => {
      const { variables: variableValues, operationName } = params
      const operation = getOperationAST(document, operationName)
      const execute = operation?.operation === 'subscription' ? enveloped.subscribe : enveloped.execute
      return execute({ schema, document, contextValue, variableValues, operationName })
    })
  }

  return function handleParams({ request, params, context }) {
    if (context['request'] !== request) context['request'] = request
    context['params'] = params
    const enveloped = getEnveloped(context)
    const fail = (error: unknown): unknown => ({ errors: toErrors(error, internals) })
    const executed = attempt(() => run(enveloped, params as Params), fail)
    return after(executed, (result) => {
      if (!isAsyncIterable(result)) return result
      return mapAsyncIterator(
        result,
        (part) => part,
        (error: unknown) => {
          if ((error as Error).name === 'AbortError') throw error
          return fail(error)
        },
      )
    })
  }
}

type Validate = (
  enveloped: Pick<Enveloped, 'validate'>,
  schema: GraphQLSchema,
  document: DocumentNode,
) => readonly unknown[]

const validateAlways: Validate = (enveloped, schema, document) => enveloped.validate(schema, document)

/** Then a document that was valid stays so: no plugin adds rules, replaces results, or wraps the step. */
export function onlyYogaValidates({ plugins, own }: Pick<YogaInternals, 'plugins' | 'own'>): boolean {
  const { engine, documentCache, validationErrors } = own
  if (!engine || !documentCache || !validationErrors) return false
  const yogas = new Set<unknown>([engine, documentCache, validationErrors])
  return plugins.every((plugin) => {
    const { onValidate, instrumentation } = Object(plugin) as PluginHooks
    return yogas.has(plugin) || !(onValidate || 'validate' in Object(instrumentation))
  })
}

/** Yoga's own memo of valid documents is asked by the names of all rules, which costs more than a small execution. */
function createValidOnce(): Validate {
  const valid = new WeakMap<GraphQLSchema, WeakSet<DocumentNode>>()
  return (enveloped, schema, document) => {
    let documents = valid.get(schema)
    if (documents?.has(document)) return []
    const errors = enveloped.validate(schema, document)
    if (errors.length > 0) return errors
    if (!documents) valid.set(schema, (documents = new WeakSet()))
    documents.add(document)
    return errors
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return value !== null && typeof value === 'object' && Symbol.asyncIterator in value
}
