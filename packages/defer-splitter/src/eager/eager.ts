import { after, isAsyncIterable, isPromise, type MaybePromise } from '@vinyasa/core'
import {
  type ExecutionArgs,
  type ExecutionResult,
  getNamedType,
  type GraphQLError,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  isObjectType,
  type ResponsePath,
  responsePathAsArray,
} from 'graphql'
import { AnswerSize, answerSizeOf, measureJson, type Variables } from '@vinyasa/core/documents'
import { totalTimedOut } from '../errors.ts'
import type { ResolvedOptions } from '../options.ts'
import {
  announced,
  type Announced,
  type Data,
  delivered,
  type Part,
  type Patch,
  type PathSegment,
} from '../parts.ts'
import { type KnownDocument, typenameAlias } from '../document/document.ts'
import type { PlannedFragment, PlannedSelection, Selections } from '../document/selections.ts'

/** The errors and fragments of a part: the first part or a patch. */
interface Draft {
  readonly errors: GraphQLError[]
  /**
   * The fragments whose parent object is in this part. A client can be informed of a fragment only when it has the
   * object.
   */
  readonly fragments: Announced[]
}

/** An object of the result while it is split. */
interface Place {
  readonly value: Data
  readonly type: GraphQLObjectType | undefined
  /** Converted to a list only for a patch. */
  readonly path: ResponsePath | undefined
  readonly errors: ErrorNode | undefined
  /**
   * Response keys that several fragments select. Each fragment receives a separate part of the value. Other values are
   * used unchanged.
   */
  readonly shared: ReadonlySet<string> | 'all'
}

const noKeys: ReadonlySet<string> = new Set()

interface SplitWalkOptions {
  readonly schema: GraphQLSchema | undefined
  readonly index: ErrorIndex
  /** See `DeferInternals.maxPatches`. */
  readonly maxPatches: number
}

/** Traverses a result and converts deferred fields to patches. */
class SplitWalk {
  readonly patches: Patch[] = []
  /** The fragments of the patches, in order. */
  readonly fragments: Announced[] = []
  readonly #options: SplitWalkOptions
  readonly #sharedPlaces = new Map<PlannedFragment['usage'], Set<string>>()

  constructor(options: SplitWalkOptions) {
    this.#options = options
  }

  /** Returns the immediate fields of the root. */
  fromRoot(draft: Draft, type: GraphQLObjectType | undefined, value: Data, selections: Selections): Data {
    const { index } = this.#options
    const errors = index.root
    draft.errors.push(...index.at(errors))
    return this.#fill(draft, { value, type, path: undefined, errors, shared: noKeys }, selections)
  }

  /** Returns the immediate fields of an object. Deferred fragments become patches. */
  #fill(draft: Draft, place: Place, selections: Selections): Data {
    let selection = selections.on(place.type)
    if (selection.deferred.length === 0) return this.#pick(draft, place, selection)
    if (this.patches.length + selection.deferred.length > this.#options.maxPatches)
      selection = selections.inlined.on(place.type)
    const here = withShared(place, new Set(selection.sharedKeys.keys()))
    const data = this.#pick(draft, here, selection)
    for (const fragment of selection.deferred)
      if (!this.#isRepeated(fragment.usage, here)) this.#deferFragment(draft, here, fragment)
    return data
  }

  /** Returns whether another fragment already contains this fragment for the same object. */
  #isRepeated(usage: PlannedFragment['usage'], { path, shared }: Place): boolean {
    if (shared !== 'all' && shared.size === 0) return false
    const place = JSON.stringify(responsePathAsArray(path))
    const places = this.#sharedPlaces.get(usage) ?? new Set()
    if (places.has(place)) return true
    this.#sharedPlaces.set(usage, places.add(place))
    return false
  }

  #deferFragment(draft: Draft, place: Place, { label, selections }: PlannedFragment): void {
    const { selected } = selections.on(place.type)
    const isPresent = selected.some(({ key }) => Object.hasOwn(place.value, key))
    const patch: Patch = { data: null, path: responsePathAsArray(place.path) }
    if (label !== undefined) patch.label = label
    // The patch is added before nested patches, so that the order is that of the document.
    if (isPresent) {
      const fragment: Announced = { path: patch.path, label }
      this.patches.push(patch)
      this.fragments.push(fragment)
      draft.fragments.push(fragment)
    }
    const own: Draft = { errors: [], fragments: isPresent ? [] : draft.fragments }
    patch.data = this.#fill(own, place, selections)
    if (own.errors.length > 0) patch.errors = own.errors
  }

  #pick(draft: Draft, place: Place, { selected }: PlannedSelection): Data {
    const { index } = this.#options
    const { value, shared, path } = place
    const data: Data = {}
    for (const { key, definition, below } of selected) {
      const found = value[key]
      if (found === undefined) continue
      const errors = place.errors?.below.get(key)
      const isShared = shared === 'all' || shared.has(key)
      if (below.isEmpty || (!errors && !isShared && !below.mayDefer())) {
        if (errors) draft.errors.push(...index.within(errors))
        data[key] = found
        continue
      }
      const type = definition && getNamedType(definition.type)
      data[key] = this.#splitValue(draft, type, found, below, {
        path: { prev: path, key, typename: undefined },
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
    selections: Selections,
    at: Pick<Place, 'path' | 'errors' | 'shared'>,
  ): unknown {
    const { index } = this.#options
    const { path, errors, shared } = at
    if (Array.isArray(value)) {
      if (errors) draft.errors.push(...index.at(errors))
      return value.map((item, position) =>
        this.#splitValue(draft, type, item, selections, {
          path: { prev: path, key: position, typename: undefined },
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
    const place = { ...at, value: object, type: this.#typeOf(object, type, selections) }
    return this.#fill(draft, place, selections)
  }

  #typeOf(
    value: Data,
    declared: GraphQLNamedType | undefined,
    selections: Selections,
  ): GraphQLObjectType | undefined {
    const { schema } = this.#options
    if (isObjectType(declared)) return declared
    if (!schema || !isAbstractType(declared)) return undefined
    for (const name of [value[typenameAlias], value['__typename']]) {
      const named = typeof name === 'string' ? schema.getType(name) : undefined
      if (isObjectType(named) && schema.isSubType(declared, named)) return named
    }
    // A stored result has no hidden type name. The existing keys determine the type, or leave several types possible.
    const present = Object.keys(value)
    const possible = schema.getPossibleTypes(declared).filter((type) => {
      const { selected } = selections.inlined.on(type)
      return selected.length === present.length && selected.every(({ key }) => Object.hasOwn(value, key))
    })
    return possible.length === 1 ? possible[0] : undefined
  }
}

function withShared(place: Place, keys: ReadonlySet<string>): Place {
  const { shared } = place
  if (shared === 'all' || keys.size === 0) return place
  return { ...place, shared: shared.size === 0 ? keys : new Set([...shared, ...keys]) }
}

interface SplitInput {
  readonly result: ExecutionResult
  /** The client's document with its `@defer` directives. */
  readonly document: KnownDocument
  readonly operationName?: string | null | undefined
  readonly variables?: Variables | null | undefined
  /** Without a schema, every type condition can match. The merged parts are equal. */
  readonly schema?: GraphQLSchema | undefined
  /** See `DeferInternals.maxPatches`. */
  readonly maxPatches: number
}

/**
 * Splits a complete result into the first part and a second part with all patches. The patches have the order of the
 * document, and a nested fragment follows its parent. Returns a plain result if no fragment is deferred.
 */
export function splitToStream(input: SplitInput): Executed {
  const { result, document, operationName, schema, maxPatches } = input
  const operation = document.operation(operationName)
  if (!operation || result.data == null) return result
  const { definition } = operation
  const selections = operation.selections(schema, input.variables)
  const index = new ErrorIndex(result.errors)
  const walk = new SplitWalk({ schema, index, maxPatches })
  const initial: Draft = { errors: [...index.withoutPath()], fragments: [] }
  const rootType = schema?.getRootType(definition.operation) ?? undefined
  const data = walk.fromRoot(initial, rootType, result.data as Data, selections)
  const { patches, fragments } = walk
  // `data` has no hidden type names, so it replaces the data of the result even without patches.
  if (patches.length === 0) return { ...result, data }
  initial.errors.push(...index.unclaimed())
  const { extensions } = result
  return iterateParts([
    {
      data,
      ...(initial.errors.length > 0 && { errors: initial.errors }),
      ...(extensions && { extensions }),
      hasNext: true,
      [announced]: initial.fragments,
    },
    { incremental: patches, hasNext: false, [delivered]: fragments },
  ])
}

type ExecuteFunction = (args: ExecutionArgs) => unknown
type Executed = ExecutionResult | AsyncIterable<unknown>

interface EagerInput {
  readonly args: ExecutionArgs
  readonly document: KnownDocument
  readonly execute: ExecuteFunction
  readonly options: ResolvedOptions
}

/** Executes the complete query and splits its result, in the specification's five steps. */
export function executeEagerly(input: EagerInput): MaybePromise<Executed> {
  const { args, document, options } = input
  const { schema, operationName, variableValues: variables } = args
  const { maxPatches } = options
  const split = (result: Executed): Executed =>
    isAsyncIterable(result) || !('data' in result)
      ? result
      : splitToStream({ result, document, operationName, variables, schema, maxPatches })
  return after(executeWhole(input), split)
}

/** Executes the complete query within the limits of time and size. */
export function executeWhole({ args, document, execute, options }: EagerInput): MaybePromise<Executed> {
  const bound = (result: Executed): Executed => {
    if (isAsyncIterable(result)) return result
    // If sources limit the size of the response, it is not measured again.
    const counted = answerSizeOf(args.contextValue)
    counted?.done()
    const refusal = counted ? counted.refusal : refusalOf(result, new AnswerSize(options))
    return refusal ? { errors: [refusal] } : result
  }
  const executed = execute({ ...args, document: document.eager(args.schema) })
  if (!isPromise(executed)) return bound(executed as Executed)
  return withinTotal(executed, options).then((result) => bound(result as Executed))
}

/** Returns an error if a complete result is too large. */
function refusalOf({ data }: ExecutionResult, size: AnswerSize): GraphQLError | undefined {
  try {
    size.add(0, measureJson(data, size.maxBytes))
  } catch {
    // `size` contains the error.
  }
  return size.refusal
}

async function* iterateParts(parts: readonly Part[]): AsyncGenerator<Part, undefined> {
  yield* parts
}

async function withinTotal(
  executing: Promise<unknown>,
  { maxTotalTimeoutMs, clock }: ResolvedOptions,
): Promise<unknown> {
  if (maxTotalTimeoutMs === 0) return executing
  let timer: unknown
  const timedOut = new Promise<ExecutionResult>((resolve) => {
    timer = clock.setTimeout(() => resolve({ errors: [totalTimedOut(maxTotalTimeoutMs)] }), maxTotalTimeoutMs)
  })
  try {
    return await Promise.race([executing, timedOut])
  } finally {
    clock.clearTimeout(timer)
  }
}

/** Errors by path. */
interface ErrorNode {
  readonly here: GraphQLError[]
  readonly below: Map<PathSegment, ErrorNode>
}

const none: readonly GraphQLError[] = []

/** The errors of a result as a tree. Each part receives the errors of the paths that it contains. */
class ErrorIndex {
  readonly root: ErrorNode = { here: [], below: new Map() }
  readonly #errors: readonly GraphQLError[]
  readonly #claimed = new Set<GraphQLError>()

  constructor(errors: readonly GraphQLError[] = []) {
    this.#errors = errors
    for (const error of errors) {
      if (!error.path) continue
      let node = this.root
      for (const segment of error.path) {
        let next = node.below.get(segment)
        if (!next) node.below.set(segment, (next = { here: [], below: new Map() }))
        node = next
      }
      node.here.push(error)
    }
  }

  withoutPath(): readonly GraphQLError[] {
    return this.#claim(this.#errors.filter(({ path }) => !path))
  }

  /** Returns the errors of exactly this path that are not yet in a part. */
  at(node: ErrorNode | undefined): readonly GraphQLError[] {
    return node ? this.#claim(node.here) : none
  }

  /**
   * Returns the errors of this path and of all paths below it that are not yet in a part. They explain a null at this
   * path.
   */
  within(node: ErrorNode | undefined): readonly GraphQLError[] {
    if (!node) return none
    return [...this.#claim(node.here), ...[...node.below.values()].flatMap((below) => this.within(below))]
  }

  /** Returns the errors that are not yet in a part. */
  unclaimed(): readonly GraphQLError[] {
    return this.#errors.filter((error) => !this.#claimed.has(error))
  }

  /**
   * Takes errors that are not yet in a part, so that each error is sent once, with the first part that contains its
   * path.
   */
  #claim(list: readonly GraphQLError[]): readonly GraphQLError[] {
    const fresh = list.filter((error) => !this.#claimed.has(error))
    for (const error of fresh) this.#claimed.add(error)
    return fresh
  }
}
