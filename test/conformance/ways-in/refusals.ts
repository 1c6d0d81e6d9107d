import { GraphQLError, type ValidationContext } from 'graphql'
import type { Plugin } from 'graphql-yoga'

/** A plugin that lets nothing through, at one hook in one manner. */
export interface Refusal {
  readonly name: string
  readonly plugin: Plugin
  /** Runs before anything is executed, so nothing must be. */
  readonly isEarly: boolean
}

const error = (): GraphQLError =>
  new GraphQLError('refused here', { extensions: { code: 'FORBIDDEN', http: { status: 403 } } })
const refused = (): { errors: GraphQLError[] } => ({ errors: [error()] })
const response = (Type: typeof Response): Response => new Type('refused here', { status: 403 })

function fail(): never {
  throw error()
}

const early = (name: string, plugin: Plugin): Refusal => ({ name, plugin, isEarly: true })
const late = (name: string, plugin: Plugin): Refusal => ({ name, plugin, isEarly: false })

export const REFUSALS: readonly Refusal[] = [
  early('onRequest answers', {
    onRequest: ({ endResponse, fetchAPI }) => endResponse(response(fetchAPI.Response)),
  }),
  early('onRequest takes another handler', {
    onRequest: ({ setRequestHandler, fetchAPI }) => setRequestHandler(() => response(fetchAPI.Response)),
  }),
  early('onRequestParse throws', { onRequestParse: fail }),
  early('onRequestParse answers', {
    onRequestParse: ({ endResponse, fetchAPI }) => endResponse(response(fetchAPI.Response)),
  }),
  early('onRequestParseDone throws', { onRequestParse: () => ({ onRequestParseDone: fail }) }),
  early('onParams throws', { onParams: fail }),
  early('onParams rejects', { onParams: async () => fail() }),
  early('onParams sets a result', { onParams: ({ setResult }) => setResult(refused()) }),
  early('onParse throws', { onParse: fail }),
  early('onParse replaces the document', {
    onParse:
      () =>
      ({ replaceParseResult }) =>
        replaceParseResult(error()),
  }),
  early('onValidate throws', { onValidate: fail }),
  early('onValidate sets a result', { onValidate: ({ setResult }) => setResult([error()]) }),
  early('onValidate adds a rule', {
    onValidate: ({ addValidationRule }) =>
      addValidationRule((context: ValidationContext) => ({ Field: () => void context.reportError(error()) })),
  }),
  early('onContextBuilding throws', { onContextBuilding: fail }),
  early('onContextBuilding rejects when done', { onContextBuilding: () => async () => fail() }),
  early('onExecute and onSubscribe throw', { onExecute: fail, onSubscribe: fail }),
  early('onExecute and onSubscribe set a result', {
    onExecute: ({ setResultAndStopExecution }) => setResultAndStopExecution(refused()),
    onSubscribe: ({ setResultAndStopExecution }) => setResultAndStopExecution(refused() as never),
  }),
  early('onExecute and onSubscribe take another function', {
    onExecute: ({ setExecuteFn }) => setExecuteFn(refused),
    onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(refused),
  }),
  late('onExecuteDone and onSubscribeResult set a result', {
    onExecute: () => ({ onExecuteDone: ({ setResult }) => setResult(refused()) }),
    onSubscribe: () => ({ onSubscribeResult: ({ setResult }) => setResult(refused()) }),
  }),
  late('onExecutionResult sets a result', { onExecutionResult: ({ setResult }) => setResult(refused()) }),
  late('onExecutionResult throws', { onExecutionResult: fail }),
  late('onResultProcess sets a result', { onResultProcess: ({ setResult }) => setResult(refused()) }),
  late('onResponse sets a response', {
    onResponse: ({ setResponse, fetchAPI }) => setResponse(response(fetchAPI.Response)),
  }),
]
