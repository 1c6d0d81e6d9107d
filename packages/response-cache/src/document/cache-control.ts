import type { ConstDirectiveNode, GraphQLField, GraphQLNamedType } from 'graphql'
import { valueFromASTUntyped } from 'graphql'

/** What `@cacheControl(maxAge, scope)` says of a field or a type; `maxAge` in seconds. */
export interface CacheControl {
  readonly maxAgeSeconds?: number | undefined
  readonly isPrivate: boolean
}

/** The directive's definition, to add to a schema. */
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

/**
 * Reads the directive wherever a schema may carry it: the SDL, `extensions.directives` (graphql-tools)
 * or `extensions.cacheControl` (code-first schemas).
 */
export function cacheControlOf(
  definition: GraphQLField<unknown, unknown> | GraphQLNamedType,
): CacheControl | undefined {
  const extensions = definition.extensions as {
    directives?: { cacheControl?: unknown }
    cacheControl?: unknown
  }
  const declared = extensions.directives?.cacheControl ?? extensions.cacheControl
  const fromExtensions: unknown = Array.isArray(declared) ? declared[0] : declared
  const args = fromExtensions ?? directiveArguments(definition)
  if (typeof args !== 'object' || args === null) return undefined
  const { maxAge, scope } = args as { maxAge?: unknown; scope?: unknown }
  return {
    maxAgeSeconds: typeof maxAge === 'number' ? maxAge : undefined,
    isPrivate: scope === 'PRIVATE',
  }
}

function directiveArguments(
  definition: GraphQLField<unknown, unknown> | GraphQLNamedType,
): object | undefined {
  const extensionNodes = 'extensionASTNodes' in definition ? definition.extensionASTNodes : []
  for (const node of [definition.astNode, ...extensionNodes]) {
    const directive = node?.directives?.find((candidate) => candidate.name.value === 'cacheControl')
    if (directive) return argumentValues(directive)
  }
  return undefined
}

function argumentValues(directive: ConstDirectiveNode): object {
  const values: Record<string, unknown> = {}
  for (const argument of directive.arguments ?? []) {
    values[argument.name.value] = valueFromASTUntyped(argument.value)
  }
  return values
}
