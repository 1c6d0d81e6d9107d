import {
  getOperationAST,
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql'
import type { MaybePromise } from '@vinyasa/base'

/** A document that was validated for a schema, and the operation of it that was asked for. */
export interface PreparedDocument {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly definition: OperationDefinitionNode
  readonly operationName: string | null | undefined
  /** What is answered in the place of an execution: it is not valid. */
  readonly errors?: readonly unknown[] | undefined
}

/** The operation that a client asks for, as Yoga's parameters. */
export interface OperationParams {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  readonly operationName?: string | null | undefined
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined
}

export interface OperationProgress {
  /** Whether it was executed: nobody has answered in its place. */
  wasExecuted: boolean
  /** Whether somebody has given a result in its place that goes out as it is: its errors are not masked. */
  isFinal: boolean
  /** Whether a behaviour has refused it, so that nothing of it was executed. */
  isRefused: boolean
}

/** One object for all requests with the very same bytes, where they came before: what follows from them can be kept by it. */
export interface SameBytes {
  /** Whether they ask for this: a hook may have changed it since. */
  ask(params: OperationParams): boolean
}

/** One execution of a document, however it came: over HTTP, a socket, in a batch, as a run of a live query. */
export interface Operation {
  readonly prepared: PreparedDocument
  readonly params: OperationParams
  readonly request: Request
  /** The GraphQL context. */
  readonly context: Record<string, unknown>
  readonly sameBytes: SameBytes | undefined
  /** Whether plugins without a behaviour may look at the result, or copy it. */
  readonly isObserved: boolean
  /** Arguments that hooks of `onExecute` have added for the executor: `rootValue`, `fieldResolver` and the like. */
  readonly added?: object | undefined
  /** Whether a plugin executes it for a transport of its own, so that nobody here knows how its answer goes out. */
  readonly isOwnWay?: boolean | undefined
  /** Whether a plugin that stands outside has put an executor of its own around this one. */
  readonly isWrapped?: boolean | undefined
  /** The progress of the operation, shared by all that is made of it on the way. */
  readonly progress: OperationProgress
  /**
   * Executes in place of Yoga's own executor, and of every plan; gives a result or a stream of parts. `execute` is what
   * stands in its place otherwise.
   */
  executor?: Executor | undefined
  /** Whether `executor` takes the place of those, too, that plugins put in place. */
  isForced?: boolean | undefined
}

export type Executor = (
  args: ExecutionArgs,
  execute: (args: ExecutionArgs) => MaybePromise<unknown>,
) => MaybePromise<unknown>

/** Executes an operation, or answers in its place: a result, or a stream of them. */
export type Execute = (operation: Operation) => MaybePromise<unknown>

/** Returns the arguments that Envelop hands to an executor. */
export function argsOf({ prepared, params, context, added }: Operation): ExecutionArgs {
  const { schema, document, operationName } = prepared
  const { variables: variableValues } = params
  const args = { schema, document, contextValue: context, variableValues, operationName } as ExecutionArgs
  return added ? { ...args, ...added } : args
}

/** The same operation, of another document that asks for the same. */
export function withDocument(operation: Operation, document: DocumentNode): Operation {
  const { prepared } = operation
  if (document === prepared.document) return operation
  const definition = getOperationAST(document, prepared.operationName) ?? prepared.definition
  return { ...operation, prepared: { ...prepared, document, definition }, sameBytes: undefined }
}

/** The operation that a hook has made of one. */
export function withArgs(operation: Operation, args: ExecutionArgs): Operation {
  const { schema, document, variableValues: variables, operationName, contextValue, ...added } = args
  const { prepared, params, context } = operation
  const isSame =
    schema === prepared.schema && document === prepared.document && operationName === prepared.operationName
  const hasAdded = Object.keys(added).length > 0
  if (isSame && !hasAdded && variables === params.variables && contextValue === context) return operation
  const definition = getOperationAST(document, operationName) ?? prepared.definition
  return {
    ...operation,
    prepared: isSame ? prepared : { schema, document, definition, operationName },
    params: { ...params, variables },
    context: contextValue as Operation['context'],
    added: hasAdded ? added : undefined,
    sameBytes: undefined,
  }
}
