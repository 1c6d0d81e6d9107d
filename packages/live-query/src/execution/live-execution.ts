import { GraphQLError } from 'graphql'
import { type Clock, createTurns, stringifySlices, type Turns, writeInSlices } from '@vinyasa/core'
import { EndLiveQuery, liveQueryUnauthenticated } from '../errors.ts'
import type { LiveQueryExecute } from '../store/registration.ts'
import { type Answer, type AskedOperation, NOBODYS, type Passes, type RunOfPass } from './passes.ts'
import type { FairTurns } from '../fair-turns.ts'
import type { UseLiveQueryOptions } from '../use-options.ts'
import { formatError, toLiveResult, type LiveResult } from '../store/version.ts'

export interface LiveExecutionOptions extends Pick<UseLiveQueryOptions, 'revalidate'> {
  readonly passes: Pick<Passes, 'send'>
  readonly turns: FairTurns
  readonly revalidateSeconds: number
  /** How many events there were. */
  readonly seenEvents: () => number
  readonly clock: Clock
}

export type LiveExecution = (asked: AskedOperation) => LiveQueryExecute

/**
 * Executes a live operation. Each run is a request of its own through the whole server, so that whatever hooks know of
 * the caller is known anew, and what they refuse by now is refused.
 */
export function createLiveExecution(options: LiveExecutionOptions): LiveExecution {
  const { passes, turns, revalidate, revalidateSeconds, clock, seenEvents } = options
  const slices = createTurns()
  let server: string | undefined
  let runs = 0

  // Not before a request: workerd has no randomness while modules are evaluated.
  const serverId = (): string => (server ??= crypto.randomUUID())

  /**
   * Adds a variable that no run before had and no document declares: GraphQL passes over it, and caches by the request, such as
   * Yoga's, have no answer to it, neither an old one to this run nor this run's to whoever asks the live query next.
   */
  function mark(asked: AskedOperation): AskedOperation {
    const variables = {
      ...(asked.params['variables'] as object | null),
      __liveRun: `${serverId()}/${++runs}`,
    }
    return { ...asked, params: { ...asked.params, variables } }
  }

  return (asked) => {
    let checkedAt = clock.now()

    async function check(context: Record<string, unknown>): Promise<readonly GraphQLError[] | undefined> {
      if (!revalidate || clock.now() - checkedAt < revalidateSeconds * 1000) return undefined
      checkedAt = clock.now()
      let cause: unknown
      try {
        if (await revalidate(context)) return undefined
      } catch (error) {
        cause = error
      }
      return [cause instanceof GraphQLError ? cause : liveQueryUnauthenticated(cause)]
    }

    return async ({ signal, first, client }) => {
      const checked = revalidate && !first ? check : undefined
      let run: RunOfPass | undefined
      const answer = await turns.openWork(client ?? signal).run(async () => {
        // Whoever waited may have left: then nobody asks for the result.
        if (signal.aborted) return NOBODYS
        // Runs that begin after the same number of events have it in common.
        const moment = `${serverId()}/${seenEvents()}`
        run = { first, moment, check: checked, ended: undefined }
        return passes.send({ ...mark(asked), client }, signal, run)
      })
      if (run?.ended) throw new EndLiveQuery(run.ended)
      return withText(resultOf(answer), slices)
    }
  }
}

function resultOf(answer: Answer): LiveResult {
  switch (answer.kind) {
    case 'errors':
      // The same credentials are sent again each time: once they are void no run can succeed.
      if (answer.errors.some(({ extensions }) => extensions?.['code'] === 'UNAUTHENTICATED'))
        throw new EndLiveQuery(answer.errors)
      return { data: null, errors: answer.errors.map(formatError) }
    case 'result':
      if (!(Symbol.asyncIterator in answer.result)) return toLiveResult(answer.result)
      void answer.result[Symbol.asyncIterator]().return?.()
      throw new Error('An execution of a live query returned a stream; expected a single result.')
    case 'live':
      throw new Error('An execution of a live query started another live query; expected a single result.')
  }
}

/** The result with its data as JSON, which is written in several turns of the event loop where it is long. */
async function withText(result: LiveResult, slices: Turns): Promise<LiveResult> {
  try {
    const text = await writeInSlices(stringifySlices(result.data ?? null) ?? [], slices)
    return { ...result, text: text.toString() }
  } catch {
    // Whoever makes a version of it says why it cannot be written.
    return result
  }
}
