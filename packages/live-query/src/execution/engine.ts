import {
  getOperationAST,
  getVariableValues,
  GraphQLError,
  type ExecutionArgs,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql'
import { type Clock, heldBytes, isPromise } from '@vinyasa/core'
import { liveDirectiveValues } from '../document/directive.ts'
import type { LiveDocuments } from '../document/document-memo.ts'
import type { VariesBy } from '@vinyasa/invalidation'
import {
  unknownCallerReason,
  EndLiveQuery,
  liveQueryCallerUnknown,
  unexpectedError,
  unusableContextKey,
} from '../errors.ts'
import { contextKeyOf, groupKey, ownKeyOf, withOwnKey } from './group-key.ts'
import type { LiveExecution } from './live-execution.ts'
import type { Answer, AskedOperation, LiveRegistration, Passes } from './passes.ts'
import type { FairTurns } from '../fair-turns.ts'
import type { LiveQueryStore } from '../store/store.ts'
import type { UseLiveQueryOptions } from '../use-options.ts'

/** Serves operations that came by another way than Yoga's own HTTP. For transports. */
export interface LiveQueryEngine {
  readonly store: LiveQueryStore
  /** In which clients have their share of the event loop, however their operations come. */
  readonly turns: FairTurns
  readonly clock: Clock
  /** Receives errors of background work. */
  readonly onError: (error: unknown) => void
  /**
   * Sends the operation through every hook that a request over HTTP passes; a live one is not executed but says how it
   * is to be registered. The signal ends it when the client leaves. Never rejects.
   */
  ask(operation: AskedOperation, signal: AbortSignal): Promise<Answer>
}

export interface LiveOperation {
  readonly args: Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues'>
  /** The built context of this operation. */
  readonly context: Record<string, unknown>
  readonly asked: AskedOperation
}

export interface RegistrationsOptions extends Pick<
  UseLiveQueryOptions,
  'contextKey' | 'varyHeaders' | 'expiresAt'
> {
  readonly documents: LiveDocuments
  readonly execution: LiveExecution
  readonly schemaNumber: (schema: GraphQLSchema) => number
  /** Told of live queries that are refused since nobody can tell for whom they are. */
  readonly onError: (error: unknown) => void
}

/** Returns the registration of a live operation; undefined when it is not live. Throws when it may not be. */
export type RegistrationOf = (live: LiveOperation) => LiveRegistration | undefined

export function createRegistrations(options: RegistrationsOptions): RegistrationOf {
  const { documents, execution, schemaNumber, contextKey, expiresAt, onError } = options
  const { varyHeaders = contextKey ? [] : ['authorization', 'cookie'] } = options

  let isTold = false
  function onUnusable(given: unknown): void {
    if (isPromise(given)) given.then(undefined, () => {})
    if (!isTold) onError(unusableContextKey(given))
    isTold = true
  }

  /** Whatever is configured adds to what the sources say; nothing takes that away. */
  function keyOf(context: Record<string, unknown>, variesBy: VariesBy): string | null {
    const names = [...new Set([...varyHeaders.map((name) => name.toLowerCase()), ...variesBy.headers])].sort()
    const { headers } = (context['request'] ?? {}) as { readonly headers?: Headers }
    if (contextKey) {
      const own = ownKeyOf(contextKey(context), onUnusable)
      return withOwnKey(own, contextKeyOf(headers, names, undefined))
    }
    if (variesBy.unknown === undefined)
      return variesBy.isPersonal ? null : contextKeyOf(headers, names, context['connectionParams'])
    onError(new Error(unknownCallerReason(variesBy.unknown)))
    throw liveQueryCallerUnknown()
  }

  return ({ args, context, asked }) => {
    const { schema, document } = args
    const operation = getOperationAST(document, args.operationName ?? undefined)
    const variables = args.variableValues ?? {}
    if (operation?.operation !== 'query') return undefined
    const directive = liveDirectiveValues(operation, variables)
    if (!directive) return undefined
    checkVariables(schema, operation, variables)
    const { throttleMs } = directive
    const { plan, variesBy, entities } = documents.plan({ schema, document, operation, throttleMs })
    const own = keyOf(context, variesBy)
    // Each run sends the request again; GraphQL ignores variables that the operation does not declare.
    const declared = declaredOnly(Object(asked.params['variables']), operation)
    const kept: AskedOperation = { ...asked, params: { ...asked.params, variables: declared } }
    const key = {
      schemaNumber: schemaNumber(schema),
      text: documents.strip(document).text,
      operationName: operation.name?.value,
      variables: declaredOnly(variables, operation),
      throttleMs,
    }
    return {
      key: own === null ? null : groupKey({ ...key, contextKey: own }),
      operation: groupKey({ ...key, contextKey: '' }),
      plan,
      entities,
      public: own === '',
      expiresAt: expiresAt?.(context),
      client: asked.client,
      execute: execution(kept),
      bytes: heldBytes([kept.params, ...kept.headers]),
    }
  }
}

export function createLiveQueryEngine(
  served: Omit<LiveQueryEngine, 'ask'>,
  passes: Pick<Passes, 'send'>,
): LiveQueryEngine {
  return {
    ...served,
    async ask(operation, signal) {
      try {
        return await passes.send(operation, signal)
      } catch (error) {
        if (error instanceof GraphQLError) return { kind: 'errors', errors: [error] }
        served.onError(error)
        return { kind: 'errors', errors: [unexpectedError(error)] }
      }
    },
  }
}

/** Throws the errors that every run would meet. */
function checkVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Readonly<Record<string, unknown>>,
): void {
  const { errors } = getVariableValues(schema, variableDefinitions, given, { maxErrors: 50 })
  if (errors) throw new EndLiveQuery(errors)
}

function declaredOnly(
  variables: Readonly<Record<string, unknown>>,
  { variableDefinitions = [] }: OperationDefinitionNode,
): Record<string, unknown> {
  const declared: Record<string, unknown> = {}
  for (const { variable } of variableDefinitions) {
    const name = variable.name.value
    if (Object.hasOwn(variables, name)) declared[name] = variables[name]
  }
  return declared
}
