import { keyed } from '@vinyasa/base'
import { getOperationAST, type GraphQLSchema } from 'graphql'
import type { ResponseCacheOptions } from '@vinyasa/response-cache'
import type { Plugin } from 'graphql-yoga'
import type { AccessConfig } from '../access-types.ts'
import { createAccessRules, type AccessRules, type GuardedField, type Refusals } from './access-rules.ts'
import { refusedOperation } from '../errors.ts'
import { createGuardedSchema, type GuardedSchema } from './guarded-schema.ts'
import { identityOf } from '../../context/identity.ts'
import { createPolicies } from './policies.ts'
import { type GuardedOperation, useGuard } from '../../use-guard.ts'

export interface FieldRules {
  /** Behind the cache and `@defer`, before live queries. */
  readonly plugin: Plugin
  /** For the cache: who may share an answer; who is refused a part of one neither gets nor leaves any. */
  readonly accessOf: NonNullable<ResponseCacheOptions['access']>
}

export interface FieldRulesOptions extends AccessConfig {
  /** Request headers that say who asks, in lower case. */
  readonly headers: readonly string[]
  readonly onError: (error: unknown) => void
}

interface Decision {
  readonly refused: Refusals
  readonly isWhole: boolean
}

/** Refused fields are not executed: they are null, with an error, or the operation is refused. */
export function createFieldRules(options: FieldRulesOptions): FieldRules {
  const { fields, refuse = 'field', headers, onError } = options
  const holds = createPolicies(options.policies, onError)
  const rulesOf = keyed(
    (schema: GraphQLSchema) => createAccessRules(schema, fields, holds),
    new WeakMap<GraphQLSchema, AccessRules>(),
  )
  const guardedOf = keyed(
    (schema: GraphQLSchema) => createGuardedSchema(schema, rulesOf(schema).guarded),
    new WeakMap<GraphQLSchema, GuardedSchema>(),
  )

  function decide(operation: GuardedOperation): Decision | undefined {
    const { schema, document, operationName, contextValue } = operation
    const rules = rulesOf(schema)
    const touched = rules.inOperation(document, operationName)
    if (touched.length === 0) return undefined
    const refused = rules.refusals(touched, identityOf(contextValue as object))
    if (refused.size === 0) return undefined
    const isQuery = getOperationAST(document, operationName)?.operation === 'query'
    const isWhole = refuse === 'operation' || (!isQuery && touched.some(isRefusedRoot(refused)))
    return { refused, isWhole }
  }

  return {
    plugin: useGuard((operation) => {
      const decision = decide(operation)
      if (!decision) return undefined
      if (decision.isWhole) return { result: refusedWhole(decision) }
      const guarded = guardedOf(operation.schema)
      return {
        schemaFor(context) {
          guarded.refuse(context as object, decision.refused)
          return guarded.schema
        },
      }
    }),
    accessOf({ schema, document }) {
      const rules = rulesOf(schema)
      const touched = rules.inOperation(document)
      if (touched.length === 0) return undefined
      return {
        headers,
        keyOf: (context) => (rules.refusals(touched, identityOf(context)).size === 0 ? '' : null),
      }
    },
  }
}

function isRefusedRoot(refused: Refusals): (field: GuardedField) => boolean {
  return ({ isRoot, coordinate }) => isRoot && refused.has(coordinate)
}

function refusedWhole({ refused }: Decision): { errors: ReturnType<typeof refusedOperation>[] } {
  const codes = [...refused.values()]
  return { errors: [refusedOperation(codes.includes('UNAUTHENTICATED') ? 'UNAUTHENTICATED' : 'FORBIDDEN')] }
}
