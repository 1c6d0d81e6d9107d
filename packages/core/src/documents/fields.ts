import {
  type ASTNode,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type InlineFragmentNode,
  isAbstractType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
  visit,
} from 'graphql'

export interface FieldWalk {
  readonly fragments: Fragments
  /**
   * Skips fragments that do not apply to this object type. Requires `schema`. Fragments are not skipped by
   * default.
   */
  readonly type?: GraphQLObjectType | undefined
  readonly schema?: GraphQLSchema | undefined
  /**
   * Returns whether to include a selection. Every selection is included by default, regardless of its
   * directives.
   */
  readonly includes?: ((selection: SelectionNode) => boolean) | undefined
  /** Returns whether to enter a fragment. It is called at each spread. Every fragment is entered by default. */
  readonly enters?: ((use: FragmentUse, fragment: Fragment) => boolean) | undefined
  /**
   * Names of fragments that were already entered. The walk adds names to it. A new set is created per walk by
   * default.
   */
  readonly followed?: Set<string> | undefined
}

/**
 * Calls `visit` for the fields of one level of selection sets, in document order. Fragments are expanded, and each
 * named fragment is expanded once.
 *
 * @param visit `on` is the innermost type condition around the field, or `undefined`.
 */
export function forEachField(
  walk: FieldWalk,
  sets: readonly SelectionSetNode[],
  visit: (node: FieldNode, on: string | undefined) => void,
): void {
  const { fragments, type, schema, includes, enters, followed = new Set() } = walk

  function follow({ selections }: SelectionSetNode, around: string | undefined): void {
    for (const selection of selections) {
      if (includes && !includes(selection)) continue
      if (selection.kind === Kind.FIELD) {
        visit(selection, around)
        continue
      }
      const fragment = fragmentOf(fragments, selection)
      const on = fragment?.typeCondition?.name.value
      if (!fragment || !applies(on, type, schema) || enters?.(selection, fragment) === false) continue
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        if (followed.has(selection.name.value)) continue
        followed.add(selection.name.value)
      }
      follow(fragment.selectionSet, on ?? around)
    }
  }

  for (const set of sets) follow(set, undefined)
}

/**
 * Collects the fields of one level by response name, in the order of the response (GraphQL specification, section
 * 6.3.2).
 */
export function collectFields(
  walk: FieldWalk,
  sets: readonly SelectionSetNode[],
): Map<string, [FieldNode, ...FieldNode[]]> {
  const fields = new Map<string, [FieldNode, ...FieldNode[]]>()
  forEachField(walk, sets, (node) => {
    const key = (node.alias ?? node.name).value
    const known = fields.get(key)
    if (known) known.push(node)
    else fields.set(key, [node])
  })
  return fields
}

function applies(
  on: string | undefined,
  type: GraphQLObjectType | undefined,
  schema: GraphQLSchema | undefined,
): boolean {
  if (on === undefined || type === undefined || on === type.name) return true
  const condition = schema?.getType(on)
  return isAbstractType(condition) && schema?.isSubType(condition, type) === true
}

/**
 * Computes a value for selection sets from the values of the sets below them. Each set is computed once, however
 * often fragments include it. The value of a recursive or missing set is `nothing`.
 *
 * @param work `below` returns the value of the set below a selection, or of a fragment. `around` is passed on from
 * the caller of `below` or of the fold. A set must always have the same `around`, for example its type.
 */
export function foldSelections<Value extends {} | null, Around = void>(
  fragments: Fragments,
  nothing: Value,
  work: (
    set: SelectionSetNode,
    below: (selection: SelectionNode, around: Around) => Value,
    around: Around,
  ) => Value,
): (set: SelectionSetNode, around: Around) => Value {
  const known = new Map<SelectionSetNode, Value>()

  function fold(set: SelectionSetNode, around: Around): Value {
    const found = known.get(set)
    if (found !== undefined) return found
    known.set(set, nothing)
    const value = work(set, below, around)
    known.set(set, value)
    return value
  }

  function below(selection: SelectionNode, around: Around): Value {
    const { selectionSet } =
      selection.kind === Kind.FIELD ? selection : (fragmentOf(fragments, selection) ?? {})
    return selectionSet ? fold(selectionSet, around) : nothing
  }

  return fold
}

/** Returns the object types that a value of the type can have. Returns an empty list for leaf and input types. */
export function possibleObjects(
  schema: GraphQLSchema,
  type: GraphQLNamedType | undefined,
): readonly GraphQLObjectType[] {
  if (isObjectType(type)) return [type]
  return isAbstractType(type) ? schema.getPossibleTypes(type) : []
}

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>
type Fragment = FragmentDefinitionNode | InlineFragmentNode
type FragmentUse = FragmentSpreadNode | InlineFragmentNode

/** Map that all documents without fragments share, because values derived from documents keep it in memory. */
const NONE: Fragments = new Map()

/** Returns the fragments of a document by name. */
export function fragmentsOf({ definitions }: DocumentNode): Fragments {
  if (definitions.length === 1 && definitions[0]?.kind !== Kind.FRAGMENT_DEFINITION) return NONE
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  }
  return fragments
}

/** Returns the fragment of a spread, or the inline fragment itself. Returns `undefined` if the name is unknown. */
export function fragmentOf(fragments: Fragments, use: FragmentUse): Fragment | undefined {
  return use.kind === Kind.INLINE_FRAGMENT ? use : fragments.get(use.name.value)
}

/** Returns the fragments that an operation uses, directly or in other fragments. */
export function usedFragments(
  operation: OperationDefinitionNode,
  fragments: Fragments,
): FragmentDefinitionNode[] {
  const used = new Set<FragmentDefinitionNode>()
  const FragmentSpread = (spread: FragmentSpreadNode): void => {
    const fragment = fragments.get(spread.name.value)
    if (fragment) used.add(fragment)
  }
  visit(operation, { FragmentSpread })
  // The loop also visits fragments that are added to the set during the iteration.
  for (const fragment of used) visit(fragment, { FragmentSpread })
  return [...used]
}

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
