import {
  type ExecutionResult,
  getNamedType,
  type GraphQLError,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  type SelectionSetNode,
} from 'graphql'
import { type Variables, withDefaults } from '@vinyasa/documents'
import type { FieldCollector, Selected } from '../document/collect-fields.ts'
import type { KnownDocument } from '../document/document-cache.ts'
import { typenameAlias } from '../document/document.ts'
import { createErrorIndex, type ErrorIndex, type ErrorNode } from './error-index.ts'
import {
  announced,
  type Announced,
  type Data,
  type DeferPatch,
  delivered,
  type InitialPart,
  type LaterPart,
  type PathSegment,
} from '../parts.ts'

export interface SplitInput {
  readonly result: ExecutionResult
  /** The client's document, with its `@defer` directives. */
  readonly document: KnownDocument
  readonly operationName?: string | null | undefined
  readonly variables?: Variables | null | undefined
  /** Without a schema every type condition may match; the merged parts are the same. */
  readonly schema?: GraphQLSchema | undefined
  /** See `DeferSplitterOptions.maxPatches`. */
  readonly maxPatches: number
}

/** The errors and fragments of the part that fields go to: the first part or a patch. */
interface Draft {
  readonly errors: GraphQLError[]
  /** The fragments whose place these fields bring: a client can be told of them once it has the place. */
  readonly fragments: Announced[]
}

/** From the last segment back to the root; made into a list only for a patch. */
interface LinkedPath {
  readonly previous: LinkedPath | undefined
  readonly segment: PathSegment
}

/** An object of the result at the moment it is split. */
interface Place {
  readonly value: Data
  readonly type: GraphQLObjectType | undefined
  readonly path: LinkedPath | undefined
  readonly errors: ErrorNode | undefined
  /** Keys whose values hold what several fragments select: each takes its own. The others are handed on as they are. */
  readonly shared: ReadonlySet<string> | 'all'
}

const noKeys: ReadonlySet<string> = new Set()

/**
 * Splits a whole result along the document's `@defer` fragments: the first part, then all patches in one part, in the
 * document's order, a nested fragment after the one around it. One plain result when nothing is left to defer.
 */
export function splitResult(input: SplitInput): ExecutionResult | readonly [InitialPart, LaterPart] {
  const { result, document, operationName, schema, maxPatches } = input
  const operation = document.operation(operationName)
  if (!operation || result.data == null) return result
  const { definition, selectionSets } = operation
  const collector = operation.collector(schema, withDefaults(definition, input.variables))
  const patches: DeferPatch[] = []
  const fragments: Announced[] = []
  const index = createErrorIndex(result.errors)
  const walk = createWalk({ collector, schema, patches, fragments, index, maxPatches })
  const initial: Draft = { errors: [...index.withoutPath], fragments: [] }
  const rootType = schema?.getRootType(definition.operation) ?? undefined
  const data = walk(initial, rootType, result.data as Data, selectionSets, index.root)
  // `data` is without the hidden type names, so it replaces the result's own even where nothing is split off.
  if (patches.length === 0) return { ...result, data }
  initial.errors.push(...index.unclaimed())
  const { extensions } = result
  return [
    {
      data,
      ...(initial.errors.length > 0 && { errors: initial.errors }),
      ...(extensions && { extensions }),
      hasNext: true,
      [announced]: initial.fragments,
    },
    { incremental: patches, hasNext: false, [delivered]: fragments },
  ]
}

function createWalk(context: {
  readonly collector: FieldCollector
  readonly schema: GraphQLSchema | undefined
  readonly patches: DeferPatch[]
  /** The fragments that the patches deliver, in their order. */
  readonly fragments: Announced[]
  readonly index: ErrorIndex
  readonly maxPatches: number
}) {
  const { collector, schema, patches, fragments, index, maxPatches } = context

  function splitValue(
    draft: Draft,
    type: GraphQLNamedType | undefined,
    value: unknown,
    selectionSets: readonly SelectionSetNode[],
    at: Pick<Place, 'path' | 'errors' | 'shared'>,
  ): unknown {
    const { path, errors, shared } = at
    if (Array.isArray(value)) {
      if (errors) draft.errors.push(...index.at(errors))
      return value.map((item, position) =>
        splitValue(draft, type, item, selectionSets, {
          path: { previous: path, segment: position },
          errors: errors?.below.get(position),
          shared,
        }),
      )
    }
    if (value === null || typeof value !== 'object') {
      if (errors) draft.errors.push(...index.within(errors))
      return value
    }
    if (errors) draft.errors.push(...index.at(errors))
    const object = value as Data
    return fill(draft, { ...at, value: object, type: typeOf(object, type, selectionSets) }, selectionSets)
  }

  /** The fields that are due in `draft` at this place; what is deferred becomes patches. */
  function fill(draft: Draft, place: Place, selectionSets: readonly SelectionSetNode[]): Data {
    let selected = collector.collect(selectionSets, place.type)
    if (selected.deferred.length === 0) return pick(draft, place, selected)
    if (patches.length + selected.deferred.length > maxPatches) {
      selected = collector.collectInlined(selectionSets, place.type)
    }
    const here = withShared(place, new Set(selected.sharedKeys.keys()))
    const data = pick(draft, here, selected)
    for (const { label, selectionSets: below } of selected.deferred) deferFragment(draft, here, label, below)
    return data
  }

  function deferFragment(
    draft: Draft,
    place: Place,
    label: string | undefined,
    selectionSets: readonly SelectionSetNode[],
  ): void {
    const { groups } = collector.collect(selectionSets, place.type)
    const isPresent = groups.some(({ key }) => Object.hasOwn(place.value, key))
    const patch: DeferPatch = { data: null, path: toList(place.path) }
    if (label !== undefined) patch.label = label
    // Before the nested ones are found, so that the order is the document's.
    if (isPresent) {
      const fragment: Announced = { path: patch.path, label }
      patches.push(patch)
      fragments.push(fragment)
      draft.fragments.push(fragment)
    }
    const own: Draft = { errors: [], fragments: isPresent ? [] : draft.fragments }
    patch.data = fill(own, place, selectionSets)
    if (own.errors.length > 0) patch.errors = own.errors
  }

  function pick(draft: Draft, place: Place, { groups }: Selected): Data {
    const { value, shared, path } = place
    const data: Data = {}
    for (const { key, nodes, selectionSets } of groups) {
      const found = value[key]
      if (found === undefined) continue
      const errors = place.errors?.below.get(key)
      const isShared = shared === 'all' || shared.has(key)
      if (!errors && (selectionSets.length === 0 || (!isShared && !collector.mayDefer(selectionSets)))) {
        data[key] = found
        continue
      }
      if (errors && selectionSets.length === 0) {
        draft.errors.push(...index.within(errors))
        data[key] = found
        continue
      }
      const type = fieldType(place.type, nodes[0].name.value)
      data[key] = splitValue(draft, type, found, selectionSets, {
        path: { previous: path, segment: key },
        errors,
        shared: isShared ? 'all' : noKeys,
      })
    }
    return data
  }

  function typeOf(
    value: Data,
    declared: GraphQLNamedType | undefined,
    selectionSets: readonly SelectionSetNode[],
  ): GraphQLObjectType | undefined {
    if (!schema || !declared || isObjectType(declared)) return declared as GraphQLObjectType | undefined
    if (!isAbstractType(declared)) return undefined
    for (const name of [value[typenameAlias], value['__typename']]) {
      const named = typeof name === 'string' ? schema.getType(name) : undefined
      if (isObjectType(named) && schema.isSubType(declared, named)) return named
    }
    // A stored result carries no hidden type name: the keys that are there tell it, or leave several types possible.
    const present = Object.keys(value)
    const possible = schema.getPossibleTypes(declared).filter((type) => {
      const { groups } = collector.collectInlined(selectionSets, type)
      return groups.length === present.length && groups.every(({ key }) => Object.hasOwn(value, key))
    })
    return possible.length === 1 ? possible[0] : undefined
  }

  function fieldType(type: GraphQLObjectType | undefined, name: string): GraphQLNamedType | undefined {
    if (!isObjectType(type) && !isInterfaceType(type)) return undefined
    const field = type.getFields()[name]
    const named = field && getNamedType(field.type)
    return named && isCompositeType(named) ? named : undefined
  }

  return (
    draft: Draft,
    type: GraphQLObjectType | undefined,
    value: Data,
    selectionSets: readonly SelectionSetNode[],
    errors: ErrorNode,
  ): Data => {
    draft.errors.push(...index.at(errors))
    return fill(draft, { value, type, path: undefined, errors, shared: noKeys }, selectionSets)
  }
}

function withShared(place: Place, keys: ReadonlySet<string>): Place {
  const { shared } = place
  if (shared === 'all' || keys.size === 0) return place
  return { ...place, shared: shared.size === 0 ? keys : new Set([...shared, ...keys]) }
}

function toList(path: LinkedPath | undefined): readonly PathSegment[] {
  const list: PathSegment[] = []
  for (let at = path; at; at = at.previous) list.push(at.segment)
  return list.reverse()
}
