import { GraphQLError, type DocumentNode } from 'graphql'
import type { YogaServer } from 'graphql-yoga'
import type { Clock } from './clock.ts'
import type { LiveOperation } from './engine.ts'
import { EndLiveQuery, liveQueryUnauthenticated } from './errors.ts'
import type { LiveQueryExecute } from './group.ts'
import { formatError, toLiveResult } from './version.ts'

export interface LiveExecutionOptions {
  readonly yoga: () => YogaServer<Record<string, unknown>, Record<string, unknown>>
  readonly revalidate: ((context: Record<string, unknown>) => boolean | Promise<boolean>) | undefined
  readonly revalidateSeconds: number
  readonly clock: Clock
}

export interface LiveExecution {
  create(input: {
    readonly live: LiveOperation
    readonly document: DocumentNode
    readonly operationName: string | undefined
  }): LiveQueryExecute
}

/** Executes a live operation through the whole of Yoga's plugins, each time with a context of its own. */
export function createLiveExecution(options: LiveExecutionOptions): LiveExecution {
  const { yoga, revalidate, revalidateSeconds, clock } = options
  return {
    create({ live, document, operationName }) {
      const { params, createContext } = live
      const { variableValues } = live.args
      let schema = live.args.schema
      let checkedAt = clock.now()

      async function check(context: Record<string, unknown>): Promise<void> {
        if (!revalidate || clock.now() - checkedAt < revalidateSeconds * 1000) return
        checkedAt = clock.now()
        let cause: unknown
        try {
          if (await revalidate(context)) return
        } catch (error) {
          cause = error
        }
        throw new EndLiveQuery([cause instanceof GraphQLError ? cause : liveQueryUnauthenticated(cause)])
      }

      return async ({ signal, first }) => {
        const enveloped = yoga().getEnveloped({ ...createContext(signal), params, liveQuery: { first } })
        if (enveloped.schema !== schema) {
          const invalid: readonly GraphQLError[] = enveloped.validate(enveloped.schema, document)
          if (invalid.length > 0) throw new EndLiveQuery(invalid)
          schema = enveloped.schema
        }
        try {
          const contextValue = await enveloped.contextFactory()
          if (!first) await check(contextValue)
          return toLiveResult(
            await enveloped.execute({ schema, document, operationName, variableValues, contextValue }),
          )
        } catch (error) {
          // What Yoga let through as a GraphQLError is meant for the client.
          if (error instanceof GraphQLError) return { data: null, errors: [formatError(error)] }
          throw error
        }
      }
    },
  }
}
