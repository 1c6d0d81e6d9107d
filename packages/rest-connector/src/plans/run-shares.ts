import type { ExecutionArgs } from 'graphql'
import type { SharedPlan } from './compile-shares.ts'
import type { Variables } from './coerce-variables.ts'
import type { Executor } from './plain-executor.ts'
import { createPlannedResult, joinJson } from './planned-result.ts'
import type { JsonText } from './share.ts'

export interface ShareRun {
  readonly variables: Variables
  readonly args: ExecutionArgs
  /** Executes in the plan's place when it gives up; then `onFallBack` is told why. */
  readonly execute: Executor
  readonly onFallBack: (reason: string) => void
}

/**
 * Makes the calls of a plan and puts the answer together. Where a call fails, or brings what is not for a plan to
 * answer, ordinary execution takes over with the calls as they are: none is made again.
 */
export async function runShares(
  { shares, between }: SharedPlan,
  { variables, args, execute, onFallBack }: ShareRun,
): Promise<unknown> {
  // Known by its variables, an execution has some of its own.
  const own = { ...variables }
  const started = shares.map(({ share }) => share.start(own, args))
  try {
    const [only] = started
    const written =
      only && started.length === 1 ? [await only.json] : await Promise.all(started.map(({ json }) => json))
    const fields: JsonText[] = []
    for (const [index, { places }] of shares.entries())
      for (const [at, place] of places.entries()) fields[place] = written[index]?.[at] as JsonText
    return createPlannedResult(joinJson(between.length === 0 ? fields : interleave(between, fields)))
  } catch (error) {
    // The class is another one where the share is another source's.
    const isUnsure = error instanceof Error && error.name === 'Unsure'
    onFallBack(isUnsure ? error.message : 'a call failed or was given up')
    return started.reduce<Executor>(
      (inner, { replay }) =>
        (given) =>
          replay(given, inner),
      execute,
    )(args)
  }
}

function interleave(between: readonly JsonText[], fields: readonly JsonText[]): JsonText[] {
  const pieces: JsonText[] = []
  for (const [place, text] of between.entries()) {
    pieces.push(text)
    const field = fields[place]
    if (field !== undefined) pieces.push(field)
  }
  return pieces
}
