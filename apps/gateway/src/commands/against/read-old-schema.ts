import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import {
  buildASTSchema,
  buildClientSchema,
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type GraphQLSchema,
  type IntrospectionQuery,
  Kind,
  parse,
  printSchema,
  specifiedScalarTypes,
  type TypeDefinitionNode,
  type TypeExtensionNode,
  visit,
} from 'graphql'
import { ROOT_NAMES } from '../../coordinates.ts'
import { ConfigError, messageOf } from '../../errors.ts'

/** Directives whose meaning clients are told. */
const TOLD: ReadonlySet<string> = new Set(['deprecated', 'oneOf', 'specifiedBy'])
/** Directives by which other gateways keep what they stand on from clients. */
const HIDING: ReadonlySet<string> = new Set(['inaccessible', 'omit'])
const OF_OPERATIONS: ReadonlySet<string> = new Set([
  'QUERY',
  'MUTATION',
  'SUBSCRIPTION',
  'FIELD',
  'FRAGMENT_DEFINITION',
  'FRAGMENT_SPREAD',
  'INLINE_FRAGMENT',
  'VARIABLE_DEFINITION',
])

/** Tools keep either what was asked or the whole answer, which has it as `data`. */
type Introspected = IntrospectionQuery | { readonly data: IntrospectionQuery }

function sdlOf(text: string): string {
  if (!/^\s*\{\s*"/.test(text)) return text
  const given = JSON.parse(text) as Introspected
  return printSchema(buildClientSchema('data' in given ? given.data : given))
}

/**
 * Reads a schema from a file of SDL, or of the answer to an introspection query, as its clients know it: without what directives say to a server or keep from clients.
 * A type that the file does not define is a scalar. Throws {@link ConfigError} for what is none.
 */
export async function readOldSchema(file: string, directory: string): Promise<GraphQLSchema> {
  if (/^https?:/i.test(file))
    throw new ConfigError(
      `--against ${file}: URLs are not supported; save the schema to a file, and pass the path of the file`,
    )
  const path = resolve(directory, file)
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new ConfigError(
      `--against ${file}: ${messageOf(error)}; pass a readable file that contains the old schema`,
    )
  })
  try {
    return schemaForClients(parse(sdlOf(text)))
  } catch (error) {
    throw new ConfigError(
      `--against ${file}: ${messageOf(error)}; expected SDL, such as the output of vinyasa print-schema, or the JSON result of an introspection query`,
      { cause: error },
    )
  }
}

/** The schema that clients of a document of type definitions know. */
export function schemaForClients(document: DocumentNode): GraphQLSchema {
  const known = withRootNames(withoutServersWords(withBases(document)))
  return buildASTSchema(
    { ...known, definitions: [...known.definitions, ...missingScalars(known)] },
    { assumeValidSDL: true },
  )
}

/** Of a type that is only extended, as subgraphs have it, the first extension is the definition. */
function withBases(document: DocumentNode): DocumentNode {
  const defined = new Set<string>()
  for (const node of document.definitions)
    if (node.kind.endsWith('TypeDefinition')) defined.add((node as TypeDefinitionNode).name.value)
  const definitions = document.definitions.map((node) => {
    if (!node.kind.endsWith('TypeExtension')) return node
    const { name, kind } = node as TypeExtensionNode
    if (defined.has(name.value)) return node
    defined.add(name.value)
    return { ...node, kind: kind.replace('Extension', 'Definition') } as DefinitionNode
  })
  return { ...document, definitions }
}

function withoutServersWords(document: DocumentNode): DocumentNode {
  const leaveOut = (node: { readonly directives?: DocumentNode['definitions'][number]['directives'] }) =>
    node.directives?.some(({ name }) => HIDING.has(name.value)) ? null : undefined
  const shown = visit(document, {
    FieldDefinition: (node) => (leaveOut(node) === null ? null : shownAs(node)),
    InputValueDefinition: leaveOut,
    EnumValueDefinition: leaveOut,
    ObjectTypeDefinition: leaveOut,
    InputObjectTypeDefinition: leaveOut,
    DirectiveDefinition: ({ locations }) =>
      locations.some(({ value }) => OF_OPERATIONS.has(value)) ? undefined : null,
    SchemaExtension: ({ operationTypes = [] }) => (operationTypes.length === 0 ? null : undefined),
  })
  return visit(shown, { Directive: ({ name }) => (TOLD.has(name.value) ? undefined : null) })
}

/** Tailcall's `@modify`: the name that clients have for a field, or that they have none. */
function shownAs(node: FieldDefinitionNode): FieldDefinitionNode | null | undefined {
  const given = node.directives?.find(({ name }) => name.value === 'modify')?.arguments ?? []
  const valueOf = (wanted: string) => given.find(({ name }) => name.value === wanted)?.value
  const [name, omit] = [valueOf('name'), valueOf('omit')]
  if (omit?.kind === Kind.BOOLEAN && omit.value) return null
  return name?.kind === Kind.STRING ? { ...node, name: { ...node.name, value: name.value } } : undefined
}

/** Roots under the names that they have here: no client writes them. */
function withRootNames(document: DocumentNode): DocumentNode {
  const names = new Map<string, string>()
  visit(document, {
    OperationTypeDefinition: ({ operation, type }) => void names.set(type.name.value, ROOT_NAMES[operation]),
  })
  const renamed = visit(document, {
    Name: (node, key, parent) => {
      const kind = parent && 'kind' in parent ? parent.kind : undefined
      const isType = kind === Kind.NAMED_TYPE || kind?.startsWith('ObjectType')
      const name = isType && key === 'name' ? names.get(node.value) : undefined
      return name === undefined ? undefined : { ...node, value: name }
    },
  })
  const definitions = renamed.definitions.filter(({ kind }) => kind !== Kind.SCHEMA_DEFINITION)
  return { ...renamed, definitions }
}

function missingScalars(document: DocumentNode): readonly DefinitionNode[] {
  const defined = new Set(specifiedScalarTypes.map(({ name }) => name))
  const named = new Set<string>()
  for (const definition of document.definitions)
    if ('name' in definition && definition.name) defined.add(definition.name.value)
  visit(document, { NamedType: ({ name }) => void named.add(name.value) })
  return [...named]
    .filter((name) => !defined.has(name))
    .map((value) => ({ kind: Kind.SCALAR_TYPE_DEFINITION, name: { kind: Kind.NAME, value } }))
}
