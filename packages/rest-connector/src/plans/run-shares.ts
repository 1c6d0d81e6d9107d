import type { ExecutionArgs } from 'graphql'
import type { SharedPlan } from './compile-shares.ts'
import type { Variables } from './coerce-variables.ts'
import type { Executor } from './plain-executor.ts'
import { joinedResult } from './planned-result.ts'

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
  const started = shares.map(({ share }) => share.start(variables, args))
  try {
    const [only] = started
    const written =
      only && started.length === 1 ? [await only.json] : await Promise.all(started.map(({ json }) => json))
    const pieces: (string | Buffer)[] = []
    for (const text of between) pieces.push(text, '')
    for (const [index, texts] of written.entries())
      for (const [at, place] of (shares[index]?.places ?? []).entries())
        pieces[2 * place + 1] = texts[at] as string | Buffer
    return joinedResult(pieces)
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
