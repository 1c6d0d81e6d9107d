import {
  getDirectiveValues,
  isInterfaceType,
  isObjectType,
  type GraphQLDirective,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql'
import type { AccessRule } from '../access-types.ts'

const NAMES = ['authenticated', 'requiresScopes', 'policy'] as const

const DEFINITIONS: Readonly<Record<(typeof NAMES)[number], string>> = {
  authenticated: 'directive @authenticated on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM',
  requiresScopes:
    'directive @requiresScopes(scopes: [[String!]!]!) on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM',
  policy:
    'directive @policy(policies: [[String!]!]!) on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM',
}

export function usesAccessDirectives(sdl: readonly string[]): boolean {
  return NAMES.some((name) => sdl.some((text) => new RegExp(`@${name}\\b`).test(text)))
}

/** Definitions of the directives of access that SDL uses and does not define itself. */
export function missingAccessDirectives(sdl: readonly string[]): string[] {
  const text = sdl.join('\n')
  return NAMES.filter(
    (name) => new RegExp(`@${name}\\b`).test(text) && !new RegExp(`directive\\s+@${name}\\b`).test(text),
  ).map((name) => DEFINITIONS[name])
}

/** Writes what the directives say as `extensions.access` onto the types and fields of a schema made of SDL. */
export function noteAccessDirectives(schema: GraphQLSchema): void {
  const directives = schema.getDirectives().filter(({ name }) => NAMES.includes(name as never))
  if (directives.length === 0) return
  for (const type of Object.values(schema.getTypeMap())) {
    note(type, directives)
    if (!isObjectType(type) && !isInterfaceType(type)) continue
    for (const field of Object.values(type.getFields())) note(field, directives)
  }
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
