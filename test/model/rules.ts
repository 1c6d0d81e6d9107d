import type { GraphQLSchema } from 'graphql'
import type { Answer } from './ask.ts'
import type { Operation, SettingsPlan, StatementPlan, UserHeaders, WorldPlan } from './plan.ts'
import { SharedCache } from './shared-cache.ts'
import { breaks } from './statements.ts'

/** What caches may do at one place. */
export interface Rules {
  /** In front of it, for those who ask through it. */
  readonly shared: SharedCache
  /** That one hears of no changes. */
  readonly isSharedLong: boolean
  /** Whether an answer comes from a cache against what is stated. */
  keepsWhatItMayNot(operation: Operation, answer: Answer, user: UserHeaders): boolean
}

export const hasSession = ({ interceptor, session }: SettingsPlan): boolean => interceptor || session

export function rulesOf({ schema: { statement }, settings }: WorldPlan, schema: GraphQLSchema): Rules {
  return {
    shared: new SharedCache(),
    isSharedLong: settings.cache?.clientMaxAge === true,
    keepsWhatItMayNot: (operation, answer, user) =>
      breaks(schema, statement, operation, answer, user, hasSession(settings)),
  }
}

/** Statements that stand in options of the cache. */
export function optionOf(statement: StatementPlan | undefined): object {
  if (!statement || statement.isByHand) return {}
  return { ttlMsBySchemaCoordinate: { [statement.place]: 0 } }
}
