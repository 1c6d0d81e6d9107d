import { GraphQLError } from 'graphql'
import { type Clock, createTurns, stringifySlices, type Turns, writeInSlices } from '@vinyasa/core'
import { EndLiveQuery, liveQueryUnauthenticated } from '../errors.ts'
import type { LiveQueryExecute } from '../store/subscriber.ts'
import { type Answer, type AskedOperation, NOBODYS, type Passes, type RunOfPass } from './passes.ts'
import type { FairTurns } from '../fair-turns.ts'
import type { UseLiveQueryOptions } from '../use-options.ts'
import { formatError, toLiveResult, type LiveResult } from '../store/version.ts'

export interface LiveExecutionOptions extends Pick<UseLiveQueryOptions, 'revalidate'> {
  readonly passes: Pick<Passes, 'send'>
  readonly turns: FairTurns
  readonly revalidateSeconds: number
  /** Returns the number of events so far. */
  readonly seenEvents: () => number
  readonly clock: Clock
}

export type LiveExecution = (asked: AskedOperation) => LiveQueryExecute

/**
 * Executes a live operation. Each run is a separate request through the complete server, so that hooks evaluate the
 * caller again and can refuse the run.
 */
export function createLiveExecution(options: LiveExecutionOptions): LiveExecution {
  const { passes, turns, revalidate, revalidateSeconds, clock, seenEvents } = options
  const slices = createTurns()
  let server: string | undefined
  let runs = 0

  // The id is created by the first request, because workerd provides no randomness during module evaluation.
  const serverId = (): string => (server ??= crypto.randomUUID())

  /**
   * Adds a variable that no document declares and that is different for every run. GraphQL ignores it. Caches by
   * request, such as Yoga's, therefore return no outdated response to this run, and do not return this run's response
   * to later requests.
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
        // The client can have disconnected in the meantime.
        if (signal.aborted) return NOBODYS
        // Runs that begin after the same number of events share this value.
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
      // The credentials are sent again for each run. Once they are invalid, no run can succeed.
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

/** Returns the result with its data as JSON. Long results are serialized in several ticks of the event loop. */
async function withText(result: LiveResult, slices: Turns): Promise<LiveResult> {
  try {
    const text = await writeInSlices(stringifySlices(result.data ?? null) ?? [], slices)
    return { ...result, text: text.toString() }
  } catch {
    // The error is reported when a version is created from the result.
    return result
  }
}
