import { hash, randomUUID } from 'node:crypto'
import {
  type ExecutionArgs,
  getOperationAST,
  getVariableValues,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql'
import { canonicalJson, type Clock, heldBytes, isPromise } from '@vinyasa/core'
import type { VariesBy } from '@vinyasa/invalidation'
import { liveDirectiveValues } from '../document/directive.ts'
import type { LiveDocuments } from '../document/live-plan.ts'
import {
  EndLiveQuery,
  liveQueryCallerUnknown,
  unexpectedError,
  unknownCallerReason,
  unusableContextKey,
} from '../errors.ts'
import type { LiveExecution } from './live-execution.ts'
import type { Answer, AskedOperation, LiveRegistration, Passes } from './passes.ts'
import type { FairTurns } from '../fair-turns.ts'
import type { LiveQueryStore } from '../store/store.ts'
import type { UseLiveQueryOptions } from '../use-options.ts'

/** Executes operations that do not come from Yoga's HTTP handler. For transports. */
export interface LiveQueryEngine {
  readonly store: LiveQueryStore
  /** The scheduler that shares the event loop between clients, for all transports. */
  readonly turns: FairTurns
  readonly clock: Clock
  /** Receives errors of background work. */
  readonly onError: (error: unknown) => void
  /**
   * Runs an operation through all hooks of an HTTP request. A live operation is not executed, and the outcome contains
   * its registration. The signal aborts when the client disconnects. The promise never rejects.
   */
  ask(operation: AskedOperation, signal: AbortSignal): Promise<Answer>
}

export interface LiveOperation {
  readonly args: Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues'>
  /** The complete context of this operation. */
  readonly context: Record<string, unknown>
  readonly asked: AskedOperation
}

interface RegistrationsOptions extends Pick<UseLiveQueryOptions, 'contextKey' | 'varyHeaders' | 'expiresAt'> {
  readonly documents: LiveDocuments
  readonly execution: LiveExecution
  readonly schemaNumber: (schema: GraphQLSchema) => number
  /** Receives an error for live queries that are refused because the caller cannot be determined. */
  readonly onError: (error: unknown) => void
}

/**
 * Returns the registration of a live operation, or `undefined` for other operations. Throws if the operation does not
 * allow live queries.
 */
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

  /** The options can only add to the headers that sources declare. */
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
    // Each run sends the request again. GraphQL ignores undeclared variables.
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

/** Throws the errors that every run would have. */
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

interface GroupKeyInput {
  readonly schemaNumber: number
  readonly text: string
  readonly operationName: string | undefined
  readonly variables: Readonly<Record<string, unknown>>
  readonly throttleMs: number | undefined
  readonly contextKey: string
}

/** Returns a key that is equal for subscriptions that can share an execution. */
export function groupKey(input: GroupKeyInput): string {
  const { schemaNumber, text, operationName = '', variables, throttleMs = -1, contextKey } = input
  return digest([schemaNumber, text, operationName, canonical(variables), throttleMs, contextKey])
}

/**
 * Returns a digest of the request data that results depend on, in addition to the query. It is empty if the request
 * contains none of this data.
 */
export function contextKeyOf(
  headers: { get(name: string): string | null } | undefined,
  varyHeaders: readonly string[],
  connectionParams: unknown,
): string {
  const values = varyHeaders.map((name) => headers?.get(name) ?? null)
  const params =
    connectionParams === undefined || isEmpty(connectionParams) ? null : canonical(connectionParams)
  if (params === null && values.every((value) => value === null)) return ''
  return digest([varyHeaders, values, params])
}

/**
 * Returns the key from the option `contextKey`. An unusable value becomes `null`, which disables sharing, and
 * `onUnusable` is called.
 */
export function ownKeyOf(given: unknown, onUnusable: (given: unknown) => void): string | null {
  if (given === null || typeof given === 'string') return given
  if (/^(undefined|number|bigint|boolean)$/.test(typeof given)) return String(given)
  onUnusable(given)
  return null
}

/** Combines the key from `contextKey` with the request data that sources read. */
export function withOwnKey(own: string | null, forwarded: string): string | null {
  return own === null || forwarded === '' ? own : digest([own, forwarded])
}

function digest(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url')
}

/** Values that are not JSON differ from every other value. */
function canonical(value: unknown): string {
  return canonicalJson(value) ?? randomUUID()
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && (value === null || Object.keys(value).length === 0)
}
