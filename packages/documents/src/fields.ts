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
  /** Together with `schema`: fragments that an object of the type is not in are left out. Default: none is. */
  readonly type?: GraphQLObjectType | undefined
  readonly schema?: GraphQLSchema | undefined
  /** Whether a selection counts. Default: all do, whatever their directives say. */
  readonly includes?: ((selection: SelectionNode) => boolean) | undefined
  /** Whether a fragment is put in place, asked wherever it is spread. Default: it is. */
  readonly enters?: ((use: FragmentUse, fragment: Fragment) => boolean) | undefined
  /** Names of fragments that are in place already; those that come are added. Default: a set for this walk. */
  readonly followed?: Set<string> | undefined
}

/**
 * The fields of one level of selection sets, in the document's order, with fragments in place, each named one once.
 *
 * @param visit `on`: the innermost type condition around the field, if there is one.
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

/** The same by response name, in the order of the answer (GraphQL, section 6.3.2). */
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
 * Works something out for selection sets and what is below them: once for each set, however often fragments bring it. What
 * is inside itself, or is not there, is `nothing`.
 *
 * @param work `below`: of what a selection has below it, or puts in its place. `around`: what the caller of `below`, or of
 * the fold, says of the place; a set must be at places of one kind only, as it is with their type.
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

/** The object types that a value of the type can be; none for leaves and inputs. */
export function possibleObjects(
  schema: GraphQLSchema,
  type: GraphQLNamedType | undefined,
): readonly GraphQLObjectType[] {
  if (isObjectType(type)) return [type]
  return isAbstractType(type) ? schema.getPossibleTypes(type) : []
}
