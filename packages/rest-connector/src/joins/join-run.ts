import {
  type ItemsByKey,
  type JoinCalls,
  mergeRecorded,
  PlannedJoins,
  type Recorded,
  SharedJoins,
  type Site,
} from '@vinyasa/source-kit'
import type { FieldScope } from '../call/call.ts'
import { signalsOf } from '../http/ending.ts'
import { argumentsText } from '../json.ts'
import type { Joined, JoinedItems, PlannedJoin, WrittenText } from '../json/object-plan.ts'
import type { PlannableJoin } from '../json/planned-field.ts'

/** A key that a parent needs, as it came. */
export interface AskedKey {
  readonly key: string
  readonly planned: PlannedJoin
  readonly raw: unknown
}

/** The joins of one execution. */
export interface JoinRun extends JoinedItems {
  readonly scope: FieldScope
  readonly variables: Site['variables']
  /** Ordinary execution has taken over, and makes what calls are left to make. */
  isOver(): boolean
  /** @throws FallBack */
  ask(asked: AskedKey): ReturnType<Calls['ask']>
  readonly shared: SharedJoins<WrittenText>
  /** Ends it. What was called is told once. */
  recorded(): Recorded
}

type Calls = JoinCalls<AskedKey, ItemsByKey>

const NOTHING: readonly unknown[] = []

export function createJoinRun(site: Site): JoinRun {
  const { variables, args } = site
  const context = args.contextValue as object
  const joins = new PlannedJoins<PlannableJoin, AskedKey, ItemsByKey>((_join, items) => items)
  const shared = new SharedJoins<WrittenText>(site, (json, objects) => ({ text: String(json), objects }))
  const calls = new Map<PlannedJoin, Calls>()
  const joined = new Map<PlannedJoin, Joined>()
  // `signal` is `@graphql-tools/executor`'s name, `abortSignal` graphql's.
  const { signal, abortSignal = signal } = args as { signal?: unknown; abortSignal?: unknown }
  // The variables stand for the execution, to count its calls.
  const scope: FieldScope = {
    signals: signalsOf(context, abortSignal, site.isOneCall),
    context,
    operation: variables,
    schema: args.schema,
  }

  function callsOf(planned: PlannedJoin): Calls {
    let known = calls.get(planned)
    if (known) return known
    const { join, argumentsOf } = planned
    const given = argumentsOf(variables)
    known = joins.callsOf(join, argumentsText(given), (asked) =>
      join.loadItems(
        asked.map(({ raw }) => raw),
        given,
        scope,
      ),
    )
    calls.set(planned, known)
    return known
  }

  return {
    variables,
    scope,
    shared,
    isOver: () => joins.isOver,
    ask: (asked) => callsOf(asked.planned).ask(asked),
    of(join) {
      let known = joined.get(join)
      if (!known) {
        const made = callsOf(join)
        known = { items: (key) => made.replyFor(key)?.get(key) ?? NOTHING, texts: new Map() }
        joined.set(join, known)
      }
      return known
    },
    recorded: () => mergeRecorded([joins.recorded(), shared.recorded()]),
  }
}
