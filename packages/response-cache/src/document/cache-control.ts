import { isRecord } from '@vinyasa/core'
import type { ConstDirectiveNode, GraphQLField, GraphQLNamedType } from 'graphql'
import { valueFromASTUntyped } from 'graphql'

/** The values of `@cacheControl(maxAge, scope)` on a field or a type. `maxAge` is in seconds. */
export interface CacheControl {
  readonly maxAgeSeconds?: number | undefined
  readonly isPrivate: boolean
}

/** The definition of the directive for a schema. */
export const cacheControlTypeDefs = /* GraphQL */ `
  enum CacheControlScope {
    PUBLIC
    PRIVATE
  }
  directive @cacheControl(
    maxAge: Int
    scope: CacheControlScope
  ) on FIELD_DEFINITION | OBJECT | INTERFACE | UNION
`

type Definition = GraphQLField<unknown, unknown> | GraphQLNamedType

/**
 * Reads the directive from the SDL, from extensions in the SDL, from `extensions.directives` (graphql-tools) and from
 * `extensions.cacheControl` (code-first schemas). The strictest value applies.
 */
export function cacheControlOf(definition: Definition): CacheControl | undefined {
  const { directives, cacheControl } = definition.extensions as {
    directives?: { cacheControl?: unknown }
    cacheControl?: unknown
  }
  const written = [directives?.cacheControl, cacheControl].flat().filter(isRecord)
  const statements = [...written, ...directivesOn(definition)]
  if (statements.length === 0) return undefined
  const ages = statements.flatMap(({ maxAge }) => (typeof maxAge === 'number' ? [maxAge] : []))
  return {
    maxAgeSeconds: ages.length > 0 ? Math.min(...ages) : undefined,
    isPrivate: statements.some(({ scope }) => scope === 'PRIVATE'),
  }
}

function directivesOn(definition: Definition): Record<string, unknown>[] {
  const extensionNodes = 'extensionASTNodes' in definition ? definition.extensionASTNodes : []
  return [definition.astNode, ...extensionNodes]
    .flatMap((node) => node?.directives ?? [])
    .filter(({ name }) => name.value === 'cacheControl')
    .map(argumentValues)
}

function argumentValues(directive: ConstDirectiveNode): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const argument of directive.arguments ?? []) {
    values[argument.name.value] = valueFromASTUntyped(argument.value)
  }
  return values
}
