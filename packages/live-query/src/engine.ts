import {
  GraphQLError,
  getOperationAST,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
} from 'graphql'
import type { YogaServer } from 'graphql-yoga'
import { liveDirectiveValues } from './directive.ts'
import type { LiveDocuments } from './documents.ts'
import { operationNotFound, unexpectedError } from './errors.ts'
import { contextKeyOf, groupKey } from './group-key.ts'
import type { LiveExecution } from './live-execution.ts'
import type { LiveQueryRegistration, LiveQueryStore } from './store.ts'

export interface OperationParams {
  readonly query?: string | undefined
  readonly operationName?: string | null | undefined
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined
}

/** One operation as a transport received it. */
export interface OperationRequest {
  readonly params: OperationParams
  /** What the context is built from, anew for every execution. Its `request` is aborted by the signal. */
  readonly createContext: (signal: AbortSignal) => Record<string, unknown>
  /** Ends the first execution when the client leaves. */
  readonly signal: AbortSignal
}

export type AnyResult = ExecutionResult | AsyncIterable<ExecutionResult>

export type PreparedOperation =
  | { readonly kind: 'errors'; readonly errors: readonly GraphQLError[] }
  | {
      readonly kind: 'once'
      readonly args: ExecutionArgs
      readonly run: (args: ExecutionArgs) => AnyResult | Promise<AnyResult>
    }
  | {
      readonly kind: 'live'
      readonly args: ExecutionArgs
      readonly registration: Omit<LiveQueryRegistration, 'id' | 'channel'>
    }

/** Serves operations that came by another way than Yoga's own HTTP. For transports. */
export interface LiveQueryEngine {
  readonly store: LiveQueryStore
  /** Parses, validates, builds the context, and says how the operation is to be served. Never rejects. */
  prepare(request: OperationRequest): Promise<PreparedOperation>
  /** What a live operation is registered with; throws when it may not be live. */
  registrationOf(operation: LiveOperation): Omit<LiveQueryRegistration, 'id' | 'channel'> | undefined
}

export interface LiveOperation {
  readonly args: Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues'>
  readonly params: OperationParams
  /** The built context of this operation. */
  readonly context: Record<string, unknown>
  readonly createContext: (signal: AbortSignal) => Record<string, unknown>
}

export interface EngineOptions {
  readonly store: LiveQueryStore
  readonly documents: LiveDocuments
  readonly execution: LiveExecution
  readonly yoga: () => YogaServer<Record<string, unknown>, Record<string, unknown>>
  readonly schemaNumber: () => number
  readonly contextKey: ((context: Record<string, unknown>) => string | null) | undefined
  readonly varyHeaders: readonly string[]
  readonly onError: (error: unknown) => void
}

export function createLiveQueryEngine(options: EngineOptions): LiveQueryEngine {
  const { store, documents, execution, yoga, schemaNumber, contextKey, varyHeaders, onError } = options

  function keyOf(context: Record<string, unknown>): string | null {
    if (contextKey) return contextKey(context)
    return contextKeyOf(headersOf(context), varyHeaders, context['connectionParams'])
  }

  function registrationOf(live: LiveOperation): Omit<LiveQueryRegistration, 'id' | 'channel'> | undefined {
    const { schema, document } = live.args
    const operation = getOperationAST(document, live.args.operationName ?? undefined)
    const variables = live.args.variableValues ?? {}
    if (operation?.operation !== 'query') return undefined
    const directive = liveDirectiveValues(operation, variables)
    if (!directive) return undefined
    const { throttleMs } = directive
    const { plan, entities } = documents.plan({ schema, document, operation, throttleMs })
    const stripped = documents.strip(document)
    const own = keyOf(live.context)
    const operationName = operation.name?.value
    const text = stripped.text
    const declared = declaredOnly(variables, operation)
    return {
      key:
        own === null
          ? null
          : groupKey({
              schemaNumber: schemaNumber(),
              text,
              operationName,
              variables: declared,
              throttleMs,
              contextKey: own,
            }),
      plan,
      entities,
      public: own === '',
      execute: execution.create({ live, document: stripped.document, operationName }),
    }
  }

  async function prepare(request: OperationRequest): Promise<PreparedOperation> {
    const { params, createContext, signal } = request
    const initial = { ...createContext(signal), params }
    const enveloped = yoga().getEnveloped(initial)
    const document: DocumentNode = enveloped.parse(params.query ?? '')
    const invalid: readonly GraphQLError[] = enveloped.validate(enveloped.schema, document)
    if (invalid.length > 0) return { kind: 'errors', errors: invalid }
    const operationName = params.operationName ?? undefined
    const operation = getOperationAST(document, operationName)
    if (!operation) return { kind: 'errors', errors: [operationNotFound()] }
    const context = await enveloped.contextFactory()
    const args: ExecutionArgs = {
      schema: enveloped.schema,
      document,
      operationName,
      variableValues: params.variables ?? undefined,
      contextValue: context,
    }
    const registration = registrationOf({ args, params, context, createContext })
    if (registration) return { kind: 'live', args, registration }
    const run = operation.operation === 'subscription' ? enveloped.subscribe : enveloped.execute
    return { kind: 'once', args: { ...args, document: documents.strip(document).document }, run }
  }

  return {
    store,
    registrationOf,
    async prepare(request) {
      try {
        return await prepare(request)
      } catch (error) {
        if (error instanceof GraphQLError) return { kind: 'errors', errors: [error] }
        onError(error)
        return { kind: 'errors', errors: [unexpectedError(error)] }
      }
    },
  }
}

export function headersOf(context: Record<string, unknown>): Headers | undefined {
  const request = context['request'] as { readonly headers?: Headers } | undefined
  return request?.headers
}

function declaredOnly(
  variables: Readonly<Record<string, unknown>>,
  operation: {
    readonly variableDefinitions?:
      | readonly { readonly variable: { readonly name: { readonly value: string } } }[]
      | undefined
  },
): Record<string, unknown> {
  const declared: Record<string, unknown> = {}
  for (const { variable } of operation.variableDefinitions ?? []) {
    const name = variable.name.value
    if (Object.hasOwn(variables, name)) declared[name] = variables[name]
  }
  return declared
}
