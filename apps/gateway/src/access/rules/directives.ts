import {
  getDirectiveValues,
  type GraphQLDirective,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql'
import { definitionsIn } from '../../coordinates.ts'
import type { AccessRule } from '../access-types.ts'

/** Definitions of the directives of access by their names. */
export const ACCESS_DIRECTIVES: Readonly<Record<string, string>> = {
  authenticated: 'directive @authenticated on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM',
  requiresScopes:
    'directive @requiresScopes(scopes: [[String!]!]!) on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM',
  policy:
    'directive @policy(policies: [[String!]!]!) on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM',
}

export function usesAccessDirectives(sdl: readonly string[]): boolean {
  return Object.keys(ACCESS_DIRECTIVES).some((name) =>
    sdl.some((text) => new RegExp(`@${name}\\b`).test(text)),
  )
}

/** Writes what the directives say as `extensions.access` onto the types and fields of a schema made of SDL. */
export function noteAccessDirectives(schema: GraphQLSchema): void {
  const directives = schema.getDirectives().filter(({ name }) => Object.hasOwn(ACCESS_DIRECTIVES, name))
  if (directives.length === 0) return
  for (const [, definition] of definitionsIn(schema)) note(definition, directives)
}

type Definition = GraphQLNamedType | GraphQLField<unknown, unknown>

function note(definition: Definition, directives: readonly GraphQLDirective[]): void {
  const { astNode, extensionASTNodes = [] } = definition as Partial<GraphQLNamedType>
  const rule: Record<string, unknown> = {}
  for (const node of [astNode, ...extensionASTNodes]) {
    for (const directive of node ? directives : []) {
      const values = getDirectiveValues(directive, node as never)
      if (!values) continue
      if (directive.name === 'authenticated') rule['authenticated'] = true
      else Object.assign(rule, directive.name === 'policy' ? { policies: values['policies'] } : values)
    }
  }
  if (Object.keys(rule).length === 0) return
  const access: AccessRule = rule
  definition.extensions = { ...definition.extensions, access }
}
