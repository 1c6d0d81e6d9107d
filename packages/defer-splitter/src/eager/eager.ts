import { AnswerSize, answerSizeOf, measureJson } from '@vinyasa/yoga-internals'
import type { ExecutionArgs, ExecutionResult, GraphQLError, GraphQLSchema } from 'graphql'
import type { KnownDocument } from '../document/document-cache.ts'
import { totalTimedOut } from '../errors.ts'
import { after, isAsyncIterable, isPromise, type MaybePromise } from '@vinyasa/base'
import type { ResolvedOptions } from '../options.ts'
import { announced, type Data, delivered, type Part } from '../parts.ts'
import { type Variables, withDefaults } from '@vinyasa/documents'
import { ErrorIndex } from './error-index.ts'
import { type Draft, SplitWalk } from './split-walk.ts'

interface SplitInput {
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

/**
 * Splits a whole result along the document's `@defer` fragments: the first part, then all patches in one part, in the
 * document's order, a nested fragment after the one around it. One plain result when nothing is left to defer.
 */
export function splitToStream(input: SplitInput): Executed {
  const { result, document, operationName, schema, maxPatches } = input
  const operation = document.operation(operationName)
  if (!operation || result.data == null) return result
  const { definition } = operation
  const selections = operation.selections(schema, withDefaults(definition, input.variables))
  const index = new ErrorIndex(result.errors)
  const walk = new SplitWalk({ schema, index, maxPatches })
  const initial: Draft = { errors: [...index.withoutPath()], fragments: [] }
  const rootType = schema?.getRootType(definition.operation) ?? undefined
  const data = walk.fromRoot(initial, rootType, result.data as Data, selections)
  const { patches, fragments } = walk
  // `data` is without the hidden type names, so it replaces the result's own even where nothing is split off.
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

export type ExecuteFunction = (args: ExecutionArgs) => unknown
export type Executed = ExecutionResult | AsyncIterable<unknown>

export interface EagerInput {
  readonly args: ExecutionArgs
  readonly document: KnownDocument
  readonly execute: ExecuteFunction
  readonly options: ResolvedOptions
}

/** Executes the whole query at once and splits its result: the specification's five steps. */
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

/** Executes the whole query at once, within the limits of time and size. */
export function executeWhole({ args, document, execute, options }: EagerInput): MaybePromise<Executed> {
  const bound = (result: Executed): Executed => {
    if (isAsyncIterable(result)) return result
    // Sources that count hold the answer to their limits, so it is not measured again.
    const counted = answerSizeOf(args.contextValue)
    counted?.done()
    const refusal = counted ? counted.refusal : refusalOf(result, new AnswerSize(options))
    return refusal ? { errors: [refusal] } : result
  }
  const executed = execute({ ...args, document: document.eager(args.schema) })
  if (!isPromise(executed)) return bound(executed as Executed)
  return withinTotal(executed, options).then((result) => bound(result as Executed))
}

/** Why a whole result is too large to be sent. */
function refusalOf({ data }: ExecutionResult, size: AnswerSize): GraphQLError | undefined {
  try {
    size.add(0, measureJson(data, size.maxBytes))
  } catch {
    // It is in the size.
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
