import {
  isAbstractType,
  isObjectType,
  Kind,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import { fragmentOf, type Fragment, type Fragments, type FragmentUse } from './fragments.ts'

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
