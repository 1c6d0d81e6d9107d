import {
  getOperationAST,
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql'
import type { MaybePromise } from '../index.ts'

/** Validated document with the requested operation. */
export interface PreparedDocument {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly definition: OperationDefinitionNode
  readonly operationName: string | null | undefined
  /** Errors to respond with instead of executing. They are set if the document is invalid. */
  readonly errors?: readonly unknown[] | undefined
}

/** Parameters of a request, as in Yoga. */
export interface OperationParams {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  readonly operationName?: string | null | undefined
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined
}

export interface OperationProgress {
  /** Whether the operation was executed. It is false if a plugin returned a result instead. */
  wasExecuted: boolean
  /** Whether a plugin returned a final result. The errors of a final result are not masked. */
  isFinal: boolean
  /** Whether a behaviour refused the operation, so that it was not executed. */
  isRefused: boolean
}

/** Identifies all requests whose bytes are equal. Values derived from the bytes can be cached under this object. */
export interface SameBytes {
  /** Returns whether the bytes contain these parameters. A hook can have changed the parameters since. */
  ask(params: OperationParams): boolean
}

/** One execution of a document: over HTTP, over a WebSocket, in a batch, or as a run of a live query. */
export interface Operation {
  readonly prepared: PreparedDocument
  readonly params: OperationParams
  readonly request: Request
  /** The GraphQL context. */
  readonly context: Record<string, unknown>
  readonly sameBytes: SameBytes | undefined
  /** Whether plugins without a behaviour can read or copy the result. */
  readonly isObserved: boolean
  /** Executor arguments that `onExecute` hooks added, such as `rootValue` and `fieldResolver`. */
  readonly added?: object | undefined
  /** Whether a plugin with its own transport executes the operation. The pipeline does not send the response then. */
  readonly isOwnWay?: boolean | undefined
  /** Whether an outer plugin wrapped the execution with its own executor. */
  readonly isWrapped?: boolean | undefined
  /** Progress of the operation, which all copies of the operation share. */
  readonly progress: OperationProgress
  /**
   * Executes the operation instead of Yoga's executor and all plans. Returns a result or a stream of parts. `execute`
   * is the replaced executor.
   */
  executor?: Executor | undefined
  /** Whether `executor` also replaces the executors that other plugins set. */
  isForced?: boolean | undefined
}

export type Executor = (
  args: ExecutionArgs,
  execute: (args: ExecutionArgs) => MaybePromise<unknown>,
) => MaybePromise<unknown>

/** Executes an operation. Returns a result or a stream of results. */
export type Execute = (operation: Operation) => MaybePromise<unknown>

/** Returns the arguments that Envelop passes to an executor. */
export function argsOf({ prepared, params, context, added }: Operation): ExecutionArgs {
  const { schema, document, operationName } = prepared
  const { variables: variableValues } = params
  const args = { schema, document, contextValue: context, variableValues, operationName } as ExecutionArgs
  return added ? { ...args, ...added } : args
}

/** Returns the operation with an equivalent document. */
export function withDocument(operation: Operation, document: DocumentNode): Operation {
  const { prepared } = operation
  if (document === prepared.document) return operation
  const definition = getOperationAST(document, prepared.operationName) ?? prepared.definition
  return { ...operation, prepared: { ...prepared, document, definition }, sameBytes: undefined }
}

/** Returns the operation with the executor arguments that a hook has changed. */
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
