import type { ASTNode } from 'graphql'

/** Names of the properties that contain child nodes, by kind, in the order of graphql's `visit`. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  Document: ['definitions'],
  OperationDefinition: ['name', 'variableDefinitions', 'directives', 'selectionSet'],
  VariableDefinition: ['variable', 'type', 'defaultValue', 'directives'],
  Variable: ['name'],
  SelectionSet: ['selections'],
  Field: ['alias', 'name', 'arguments', 'directives', 'selectionSet'],
  Argument: ['name', 'value'],
  FragmentArgument: ['name', 'value'],
  FragmentSpread: ['name', 'arguments', 'directives'],
  InlineFragment: ['typeCondition', 'directives', 'selectionSet'],
  FragmentDefinition: ['name', 'variableDefinitions', 'typeCondition', 'directives', 'selectionSet'],
  ListValue: ['values'],
  ObjectValue: ['fields'],
  ObjectField: ['name', 'value'],
  Directive: ['name', 'arguments'],
  NamedType: ['name'],
  ListType: ['type'],
  NonNullType: ['type'],
}

const NONE: readonly string[] = []

export type Member = ASTNode | readonly ASTNode[]

export function membersOf(kind: string): readonly string[] {
  return MEMBERS[kind] ?? NONE
}

/** Returns the child nodes in a property of a node. */
export function memberOf(node: ASTNode, name: string): Member | null | undefined {
  return (node as unknown as Readonly<Record<string, Member | null | undefined>>)[name]
}

export function isList(value: Member): value is readonly ASTNode[] {
  return Array.isArray(value)
}
