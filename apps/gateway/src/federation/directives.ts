import { Kind, parse, type DocumentNode } from 'graphql'

/** The version whose directives are defined here. */
export const FEDERATION_URL = 'https://specs.apollo.dev/federation/v2.3'

const DEFINITIONS = `
  directive @key(fields: String!, resolvable: Boolean = true) repeatable on OBJECT | INTERFACE
  directive @requires(fields: String!) on FIELD_DEFINITION
  directive @provides(fields: String!) on FIELD_DEFINITION
  directive @external on OBJECT | FIELD_DEFINITION
  directive @shareable repeatable on OBJECT | FIELD_DEFINITION
  directive @inaccessible on FIELD_DEFINITION | OBJECT | INTERFACE | UNION | ARGUMENT_DEFINITION | SCALAR | ENUM | ENUM_VALUE | INPUT_OBJECT | INPUT_FIELD_DEFINITION
  directive @override(from: String!) on FIELD_DEFINITION
  directive @link(url: String!, as: String, for: String, import: [String]) repeatable on SCHEMA
  directive @tag(name: String!) repeatable on FIELD_DEFINITION | INTERFACE | OBJECT | UNION | ARGUMENT_DEFINITION | SCALAR | ENUM | ENUM_VALUE | INPUT_OBJECT | INPUT_FIELD_DEFINITION
`

/** Directives that a subgraph's SDL imports when it uses them. */
export const FEDERATION_DIRECTIVES: ReadonlySet<string> = new Set(
  'key requires provides external shareable inaccessible override tag'.split(' '),
)

/** SDL that uses directives of federation without defining them, with their definitions. */
export function withFederationDirectives(document: DocumentNode): DocumentNode {
  const defined = new Set(
    document.definitions.flatMap((one) => (one.kind === Kind.DIRECTIVE_DEFINITION ? [one.name.value] : [])),
  )
  const missing = parse(DEFINITIONS, { noLocation: true }).definitions.filter(
    (one) => one.kind !== Kind.DIRECTIVE_DEFINITION || !defined.has(one.name.value),
  )
  return { ...document, definitions: [...document.definitions, ...missing] }
}
