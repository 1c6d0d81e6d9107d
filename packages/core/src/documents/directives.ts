import {
  Kind,
  valueFromASTUntyped,
  visit,
  type ASTNode,
  type DirectiveNode,
  type DocumentNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import { fragmentsOf, usedFragments, type Fragments } from './fragments.ts'

export type Variables = Readonly<Record<string, unknown>>

/** Returns the variables of a request with the operation's default values. */
export function withDefaults(
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Variables | null | undefined,
): Variables {
  const variables: Record<string, unknown> = { ...given }
  for (const { variable, defaultValue } of variableDefinitions) {
    const name = variable.name.value
    if (variables[name] === undefined && defaultValue) variables[name] = valueFromASTUntyped(defaultValue)
  }
  return variables
}

/**
 * Returns the value of a directive's argument. Returns `undefined` if the argument, or the variable that it uses, is
 * missing.
 */
export function directiveArgument(
  directive: DirectiveNode,
  name: string,
  variables: Variables = {},
): unknown {
  const value = directive.arguments?.find((argument) => argument.name.value === name)?.value
  return value && valueFromASTUntyped(value, variables)
}

/** Returns whether `@skip` and `@include` keep the selection. A directive whose variable is missing keeps it. */
export function isIncluded({ directives = [] }: SelectionNode, variables: Variables = {}): boolean {
  return directives.every((directive) => {
    const { value } = directive.name
    if (value !== 'skip' && value !== 'include') return true
    return directiveArgument(directive, 'if', variables) !== (value === 'skip')
  })
}

/** Calls `visitOne` for every directive in the operations and fragments of a document, in document order. */
export function forEachDirective(
  { definitions }: DocumentNode,
  visitOne: (node: DirectiveNode) => void,
): void {
  function of({ directives }: { readonly directives?: readonly DirectiveNode[] | undefined }): void {
    if (directives) for (const directive of directives) visitOne(directive)
  }

  function below({ selections }: SelectionSetNode): void {
    for (const selection of selections) {
      of(selection)
      if ('selectionSet' in selection && selection.selectionSet) below(selection.selectionSet)
    }
  }

  for (const definition of definitions) {
    if (!('selectionSet' in definition)) continue
    for (const variable of definition.variableDefinitions ?? []) of(variable)
    of(definition)
    below(definition.selectionSet)
  }
}

/** Returns the variables that the directives with these names use. */
export function directiveVariables(document: DocumentNode, names: ReadonlySet<string>): Set<string> {
  const used = new Set<string>()
  forEachDirective(document, (node) => {
    if (names.has(node.name.value)) addVariables(node, used)
  })
  return used
}

/** Returns the variables that an operation and its fragments use. */
export function usedVariables(operation: OperationDefinitionNode, fragments: Fragments): Set<string> {
  const used = new Set<string>()
  for (const node of [operation, ...usedFragments(operation, fragments)]) addVariables(node, used)
  return used
}

function addVariables(node: ASTNode, used: Set<string>): void {
  visit(node, {
    VariableDefinition: () => false,
    Variable: ({ name }) => void used.add(name.value),
  })
}

/**
 * Returns the document without the directives of these names. Variables that only these directives use are removed
 * from the operations, so the document stays valid.
 */
export function withoutDirectives(document: DocumentNode, names: ReadonlySet<string>): DocumentNode {
  const released = new Set<string>()
  const stripped: DocumentNode = visit(document, {
    Directive(node) {
      if (!names.has(node.name.value)) return undefined
      addVariables(node, released)
      return null
    },
  })
  if (released.size === 0) return stripped
  const fragments = fragmentsOf(stripped)
  const definitions = stripped.definitions.map((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION || !definition.variableDefinitions) return definition
    const used = usedVariables(definition, fragments)
    const variableDefinitions = definition.variableDefinitions.filter(
      ({ variable: { name } }) => !released.has(name.value) || used.has(name.value),
    )
    return { ...definition, variableDefinitions }
  })
  return { ...stripped, definitions }
}
