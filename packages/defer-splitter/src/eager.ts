import type { DocumentNode, ExecutionArgs, ExecutionResult } from 'graphql'
import { totalTimedOut } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import type { Part } from './parts.ts'
import { splitResult, type SplitInput } from './split.ts'

export type ExecuteFunction = (args: ExecutionArgs) => unknown
export type Executed = ExecutionResult | AsyncIterable<unknown>

/** Executes the whole query at once and splits its result: the specification's five steps. */
export async function executeEagerly(input: {
  readonly args: ExecutionArgs
  readonly eagerDocument: DocumentNode
  readonly execute: ExecuteFunction
  readonly options: ResolvedOptions
}): Promise<Executed> {
  const { args, eagerDocument, execute, options } = input
  const { schema, document, operationName, variableValues: variables } = args
  const { maxPatches } = options
  const executing = execute({ ...args, document: eagerDocument })
  const result = (await withinTotal(executing, options)) as Executed
  if (isAsyncIterable(result)) return result
  return splitToStream({ result, document, operationName, variables, schema, maxPatches })
}

/** A whole result as the stream of its parts, or as itself when nothing of it is deferred. */
export function splitToStream(input: SplitInput): Executed {
  const split = splitResult(input)
  return isParts(split) ? iterateParts(split) : split
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

function isParts(split: ReturnType<typeof splitResult>): split is readonly [Part, Part] & typeof split {
  return Array.isArray(split)
}

async function* iterateParts(parts: readonly Part[]): AsyncGenerator<Part, void, undefined> {
  yield* parts
}

async function withinTotal(
  executing: unknown,
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
