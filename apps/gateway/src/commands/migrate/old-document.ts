import {
  type ConstDirectiveNode,
  type DocumentNode,
  type FieldDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  type ObjectTypeExtensionNode,
  type TypeDefinitionNode,
  valueFromASTUntyped,
} from 'graphql'
import { ROOT_NAMES } from '../../coordinates.ts'
import { type Note, Unsaid, type Values } from './migration.ts'

export interface OldDirective {
  readonly name: string
  readonly args: Values
  readonly line: number | undefined
}

interface WithDirectives {
  readonly directives?: readonly ConstDirectiveNode[] | undefined
}

/** Type definitions whose directives say where data comes from. */
export class OldDocument {
  readonly document: DocumentNode
  /** Root types and what they are roots of. */
  readonly roots: ReadonlyMap<string, 'Query' | 'Mutation' | 'Subscription'>
  readonly types: ReadonlyMap<string, TypeDefinitionNode>
  readonly notes: Note[] = []

  constructor(document: DocumentNode) {
    this.document = document
    this.roots = rootsOf(document)
    this.types = typesOf(document)
  }

  note(line: number | undefined, text: string): void {
    this.notes.push({ line, text })
  }

  /** Does what may meet something that cannot be said here; that is noted then. */
  attempt(line: number | undefined, what: string, act: () => void): void {
    try {
      act()
    } catch (error) {
      if (!(error instanceof Unsaid)) throw error
      this.note(line, `${what}: ${error.message}`)
    }
  }

  /** The directives of the schema itself. */
  schemaDirectives(): readonly OldDirective[] {
    return this.document.definitions.flatMap((node) =>
      node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION ? directivesOf(node) : [],
    )
  }

  /** The fields of a type. */
  fieldsOf(type: string): readonly FieldDefinitionNode[] {
    const node = this.types.get(type)
    return node && 'fields' in node ? ((node.fields ?? []) as readonly FieldDefinitionNode[]) : []
  }

  /** All fields of object types and interfaces. */
  *allFields(): Iterable<readonly [type: TypeDefinitionNode, field: FieldDefinitionNode]> {
    for (const type of this.types.values())
      if (type.kind === Kind.OBJECT_TYPE_DEFINITION || type.kind === Kind.INTERFACE_TYPE_DEFINITION)
        for (const field of type.fields ?? []) yield [type, field]
  }
}

export function directivesOf({ directives = [] }: WithDirectives): readonly OldDirective[] {
  return directives.map(({ name, arguments: given = [], loc }) => ({
    name: name.value,
    args: Object.fromEntries(given.map((one) => [one.name.value, valueFromASTUntyped(one.value)])),
    line: loc?.startToken.line,
  }))
}

export function directiveOf(node: WithDirectives, name: string): OldDirective | undefined {
  return directivesOf(node).find((one) => one.name === name)
}

function rootsOf(document: DocumentNode): ReadonlyMap<string, 'Query' | 'Mutation' | 'Subscription'> {
  const said = document.definitions.flatMap((node) =>
    node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION
      ? (node.operationTypes ?? [])
      : [],
  )
  if (said.length === 0) return new Map(Object.values(ROOT_NAMES).map((name) => [name, name]))
  return new Map(said.map(({ operation, type }) => [type.name.value, ROOT_NAMES[operation]]))
}

/** Type definitions by name, with what extensions add to objects. */
function typesOf(document: DocumentNode): ReadonlyMap<string, TypeDefinitionNode> {
  const types = new Map<string, TypeDefinitionNode>()
  for (const node of document.definitions)
    if (node.kind.endsWith('TypeDefinition'))
      types.set((node as TypeDefinitionNode).name.value, node as TypeDefinitionNode)
  for (const node of document.definitions) {
    if (node.kind !== Kind.OBJECT_TYPE_EXTENSION) continue
    types.set(node.name.value, extended(types.get(node.name.value), node))
  }
  return types
}

function extended(
  known: TypeDefinitionNode | undefined,
  { fields = [], directives = [], name, loc }: ObjectTypeExtensionNode,
): ObjectTypeDefinitionNode {
  const base = known?.kind === Kind.OBJECT_TYPE_DEFINITION ? known : undefined
  return {
    kind: Kind.OBJECT_TYPE_DEFINITION,
    name,
    ...(loc && { loc }),
    ...base,
    fields: [...(base?.fields ?? []), ...fields],
    directives: [...(base?.directives ?? []), ...directives],
  }
}
