import { keyed } from '@vinyasa/base'
import { getOperationAST, type GraphQLSchema, defaultFieldResolver, type GraphQLFieldResolver } from 'graphql'
import type { ResponseCacheOptions } from '@vinyasa/response-cache'
import type { Plugin } from 'graphql-yoga'
import type { AccessConfig, PolicyConfig } from '../access-types.ts'
import { createAccessRules, type AccessRules, type GuardedField, type Refusals } from './access-rules.ts'
import { refusedOperation, refusedField } from '../errors.ts'
import { identityOf, claimAt } from '../../context/identity.ts'
import { type GuardedOperation, useGuard } from '../../use-guard.ts'
import type { HoldsPolicy } from './requirement.ts'
import { mapSchema, MapperKind } from '@graphql-tools/utils'

/** The same schema for those who may not have all of an operation. */
interface GuardedSchema {
  readonly schema: GraphQLSchema
  /** Says what of the operation with this context fails in place of being resolved. */
  refuse(context: object, refused: Refusals): void
}

/**
 * A schema whose guarded fields fail where they are refused: null, path, lists, abstract types and what bubbles are
 * then GraphQL's own. The schema that it is made of stays as it is, so that who may have everything pays nothing.
 */
function createGuardedSchema(schema: GraphQLSchema, guarded: ReadonlySet<string>): GuardedSchema {
  const refusals = new WeakMap<object, Refusals>()

  function guard(
    coordinate: string,
    name: string,
    resolve: GraphQLFieldResolver<unknown, unknown>,
  ): typeof resolve {
    return (source, args, context, info) => {
      // A joined field may read its key through this one.
      const refused = info.fieldName === name ? refusals.get(context as object)?.get(coordinate) : undefined
      if (refused) throw refusedField(refused)
      return resolve(source, args, context, info)
    }
  }

  return {
    schema: mapSchema(schema, {
      [MapperKind.OBJECT_FIELD](field, name, typeName) {
        const coordinate = `${typeName}.${name}`
        if (!guarded.has(coordinate)) return undefined
        return { ...field, resolve: guard(coordinate, name, field.resolve ?? defaultFieldResolver) }
      },
    }),
    refuse: (context, refused) => void refusals.set(context, refused),
  }
}

/** Creates the function that says whether a named policy holds. A policy that throws does not hold. */
function createPolicies(
  policies: AccessConfig['policies'] = {},
  onError: (error: unknown) => void,
): HoldsPolicy {
  const meanings = new Map(Object.entries(policies).map(([name, policy]) => [name, meaningOf(policy)]))
  return (name, identity) => {
    try {
      // Only what is true lets in: not the promise of an answer, either.
      return meanings.get(name)?.(identity) === true
    } catch (error) {
      onError(new Error(`access.policies["${name}"] threw an error`, { cause: error }))
      return false
    }
  }
}

function meaningOf(policy: PolicyConfig): Extract<PolicyConfig, (...args: never[]) => boolean> {
  if (typeof policy === 'function') return policy
  const accepted: readonly unknown[] = policy.is
  return (identity) => {
    const claim = identity && claimAt(identity.claims, policy.claim)
    return (Array.isArray(claim) ? claim : [claim]).some((item) => accepted.includes(item))
  }
}

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
