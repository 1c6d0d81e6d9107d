import {
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
import type { DeferredFragment, FieldCollector, Selected } from '../document/collect-fields.ts'
import { typenameAlias } from '../document/document.ts'
import type { Announced, Data, Patch, PathSegment } from '../parts.ts'
import type { ErrorIndex, ErrorNode } from './error-index.ts'

/** The errors and fragments of the part that fields go to: the first part or a patch. */
export interface Draft {
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

export interface SplitWalkOptions {
  readonly collector: FieldCollector
  readonly schema: GraphQLSchema | undefined
  readonly index: ErrorIndex
  /** See `DeferSplitterOptions.maxPatches`. */
  readonly maxPatches: number
}

/** One way through a result: what is deferred of it becomes patches. */
export class SplitWalk {
  readonly patches: Patch[] = []
  /** The fragments that the patches deliver, in their order. */
  readonly fragments: Announced[] = []
  readonly #options: SplitWalkOptions
  readonly #sharedPlaces = new Map<DeferredFragment['usage'], Set<string>>()

  constructor(options: SplitWalkOptions) {
    this.#options = options
  }

  /** The fields of the result's root that are due in `draft`. */
  fromRoot(
    draft: Draft,
    type: GraphQLObjectType | undefined,
    value: Data,
    selectionSets: readonly SelectionSetNode[],
  ): Data {
    const { index } = this.#options
    const errors = index.root
    draft.errors.push(...index.at(errors))
    return this.#fill(draft, { value, type, path: undefined, errors, shared: noKeys }, selectionSets)
  }

  /** The fields that are due in `draft` at this place; what is deferred becomes patches. */
  #fill(draft: Draft, place: Place, selectionSets: readonly SelectionSetNode[]): Data {
    const { collector, maxPatches } = this.#options
    let selected = collector.collect(selectionSets, place.type)
    if (selected.deferred.length === 0) return this.#pick(draft, place, selected)
    if (this.patches.length + selected.deferred.length > maxPatches)
      selected = collector.collectInlined(selectionSets, place.type)
    const here = withShared(place, new Set(selected.sharedKeys.keys()))
    const data = this.#pick(draft, here, selected)
    for (const fragment of selected.deferred)
      if (!this.#isRepeated(fragment.usage, here)) this.#deferFragment(draft, here, fragment)
    return data
  }

  /** Whether another fragment has brought this one at the same place. */
  #isRepeated(usage: DeferredFragment['usage'], { path, shared }: Place): boolean {
    if (shared !== 'all' && shared.size === 0) return false
    const place = JSON.stringify(toList(path))
    const places = this.#sharedPlaces.get(usage) ?? new Set()
    if (places.has(place)) return true
    this.#sharedPlaces.set(usage, places.add(place))
    return false
  }

  #deferFragment(draft: Draft, place: Place, { label, selectionSets }: DeferredFragment): void {
    const { groups } = this.#options.collector.collect(selectionSets, place.type)
    const isPresent = groups.some(({ key }) => Object.hasOwn(place.value, key))
    const patch: Patch = { data: null, path: toList(place.path) }
    if (label !== undefined) patch.label = label
    // Before the nested ones are found, so that the order is the document's.
    if (isPresent) {
      const fragment: Announced = { path: patch.path, label }
      this.patches.push(patch)
      this.fragments.push(fragment)
      draft.fragments.push(fragment)
    }
    const own: Draft = { errors: [], fragments: isPresent ? [] : draft.fragments }
    patch.data = this.#fill(own, place, selectionSets)
    if (own.errors.length > 0) patch.errors = own.errors
  }

  #pick(draft: Draft, place: Place, { groups }: Selected): Data {
    const { collector, index } = this.#options
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
      const type = fieldTypeOf(place.type, nodes[0].name.value)
      data[key] = this.#splitValue(draft, type, found, selectionSets, {
        path: { previous: path, segment: key },
        errors,
        shared: isShared ? 'all' : noKeys,
      })
    }
    return data
  }

  #splitValue(
    draft: Draft,
    type: GraphQLNamedType | undefined,
    value: unknown,
    selectionSets: readonly SelectionSetNode[],
    at: Pick<Place, 'path' | 'errors' | 'shared'>,
  ): unknown {
    const { index } = this.#options
    const { path, errors, shared } = at
    if (Array.isArray(value)) {
      if (errors) draft.errors.push(...index.at(errors))
      return value.map((item, position) =>
        this.#splitValue(draft, type, item, selectionSets, {
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
    const place = { ...at, value: object, type: this.#typeOf(object, type, selectionSets) }
    return this.#fill(draft, place, selectionSets)
  }

  #typeOf(
    value: Data,
    declared: GraphQLNamedType | undefined,
    selectionSets: readonly SelectionSetNode[],
  ): GraphQLObjectType | undefined {
    const { schema, collector } = this.#options
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
}

function fieldTypeOf(type: GraphQLObjectType | undefined, name: string): GraphQLNamedType | undefined {
  if (!isObjectType(type) && !isInterfaceType(type)) return undefined
  const field = type.getFields()[name]
  const named = field && getNamedType(field.type)
  return named && isCompositeType(named) ? named : undefined
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
