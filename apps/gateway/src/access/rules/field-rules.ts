import { keyed } from '@vinyasa/base'
import { getOperationAST, type GraphQLSchema, defaultFieldResolver, type GraphQLFieldResolver } from 'graphql'
import type { ResponseCacheOptions } from '@vinyasa/response-cache'
import type { Plugin } from 'graphql-yoga'
import type { AccessConfig, PolicyConfig } from '../access-types.ts'
import { createAccessRules, type AccessRules, type Refusals } from './access-rules.ts'
import { refusedOperation, refusedField } from '../errors.ts'
import { identityOf, claimAt } from '../../context/identity.ts'
import { useGuard } from '../../use-guard.ts'
import type { HoldsPolicy } from './requirement.ts'
import { mapSchema, MapperKind } from '@graphql-tools/utils'

/**
 * A schema whose guarded fields fail where they are refused: null, path, lists, abstract types and what bubbles are
 * then GraphQL's own. The schema that it is made of stays as it is, so that who may have everything pays nothing.
 */
function createGuardedSchema(schema: GraphQLSchema, guarded: ReadonlySet<string>) {
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
    /** Sets the fields that fail in the operation with this context. */
    refuse: (context: object, refused: Refusals) => void refusals.set(context, refused),
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

/**
 * Refused fields are not executed: they are null, with an error, or the operation is refused. `headers`: request headers
 * that identify the caller, in lower case.
 */
export function createFieldRules(
  { fields, policies, refuse = 'field' }: AccessConfig,
  headers: readonly string[],
  onError: (error: unknown) => void,
): FieldRules {
  const holds = createPolicies(policies, onError)
  const rulesOf = keyed(
    (schema: GraphQLSchema) => createAccessRules(schema, fields, holds),
    new WeakMap<GraphQLSchema, AccessRules>(),
  )
  const guardedOf = keyed(
    (schema: GraphQLSchema) => createGuardedSchema(schema, rulesOf(schema).guarded),
    new WeakMap<GraphQLSchema, ReturnType<typeof createGuardedSchema>>(),
  )

  return {
    plugin: useGuard(({ schema, document, operationName, contextValue }) => {
      const rules = rulesOf(schema)
      const touched = rules.inOperation(document, operationName)
      if (touched.length === 0) return undefined
      const refused = rules.refusals(touched, identityOf(contextValue as object))
      if (refused.size === 0) return undefined
      const isQuery = getOperationAST(document, operationName)?.operation === 'query'
      const isRootRefused = touched.some(({ isRoot, coordinate }) => isRoot && refused.has(coordinate))
      if (refuse === 'operation' || (!isQuery && isRootRefused)) {
        const isUnknown = [...refused.values()].includes('UNAUTHENTICATED')
        return { result: { errors: [refusedOperation(isUnknown ? 'UNAUTHENTICATED' : 'FORBIDDEN')] } }
      }
      const guarded = guardedOf(schema)
      return {
        schemaFor(context) {
          guarded.refuse(context as object, refused)
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
