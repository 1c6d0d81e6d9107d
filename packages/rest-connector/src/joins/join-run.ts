import {
  createJoinCalls,
  type JoinBatch,
  type JoinCalls,
  type Keyed,
  mergeRecorded,
  type Recorded,
  type Site,
  type StartedJoin,
} from '@vinyasa/source-kit'
import type { FieldScope } from '../call/call.ts'
import { signalsOf } from '../http/ending.ts'
import { canonicalJson } from '../json.ts'
import type { Joined, JoinedItems, KeyedShare, PlannedJoin } from '../json/object-plan.ts'
import type { ItemsByKey, PlannableJoin } from '../json/planned-field.ts'

/** A key that a parent needs, as it came. */
export interface AskedKey extends Keyed {
  readonly planned: PlannedJoin
  readonly raw: unknown
}

/** The joins of one execution. */
export interface JoinRun extends JoinedItems {
  readonly scope: FieldScope
  readonly variables: Site['variables']
  /** Ordinary execution has taken over, and makes what calls are left to make. */
  readonly isOver: boolean
  /** @throws FallBack */
  ask(asked: AskedKey): JoinBatch
  started(share: KeyedShare): StartedJoin
  /** Ends it. What was called is told once. */
  recorded(): Recorded
}

type Calls = JoinCalls<AskedKey, ItemsByKey>

const NOTHING: readonly unknown[] = []

export function createJoinRun(site: Site): JoinRun {
  const { variables, args } = site
  const context = args.contextValue as object
  /** By the arguments that are no keys. */
  const calls = new Map<PlannableJoin, Map<string, Calls>>()
  const ofJoins = new Map<PlannedJoin, Calls>()
  const joined = new Map<PlannedJoin | KeyedShare, Joined>()
  const shares = new Map<KeyedShare, StartedJoin>()
  // The variables stand for the execution, to count its calls.
  const scope: FieldScope = {
    signals: signalsOf(context, executionSignal(args), site.isOneCall),
    context,
    operation: variables,
    schema: args.schema,
  }

  /** All places of an operation that select a join with the same arguments share its calls. */
  function callsOf(planned: PlannedJoin): Calls {
    let known = ofJoins.get(planned)
    if (known) return known
    const { join, argumentsOf } = planned
    const given = argumentsOf(variables)
    const canonicalArgs = canonicalJson(given)
    const byArgs = calls.get(join) ?? new Map<string, Calls>()
    calls.set(join, byArgs)
    known = byArgs.get(canonicalArgs)
    if (!known) {
      known = createJoinCalls(join.maxSize, (asked) =>
        join.load(
          asked.map(({ raw }) => raw),
          given,
          scope,
        ),
      )
      byArgs.set(canonicalArgs, known)
    }
    ofJoins.set(planned, known)
    return known
  }

  // A getter in the literal would give each execution a hidden class of its own, which keeps the whole request for long.
  const run: JoinRun & { isOver: boolean } = {
    variables,
    scope,
    isOver: false,
    ask: (asked) => callsOf(asked.planned).ask(asked),
    of(join) {
      let known = joined.get(join)
      if (!known) {
        const made = join.kind === 'join' ? callsOf(join) : undefined
        known = { items: (key) => made?.replyFor(key)?.get(key) ?? NOTHING, texts: new Map() }
        joined.set(join, known)
      }
      return known
    },
    started(share) {
      let known = shares.get(share)
      if (!known) shares.set(share, (known = share.shared.start(site)))
      return known
    },
    recorded() {
      // Other kinds of sources ask the joins below theirs, and so this one again.
      if (run.isOver) return { roots: new Map(), joins: new Map() }
      run.isOver = true
      const joins = new Map<object, (key: string) => Promise<unknown> | undefined>()
      for (const [join, byArgs] of calls) {
        for (const made of byArgs.values()) made.stop()
        joins.set(join, (argsAndKey) => {
          // No JSON object begins with another one.
          const found = [...byArgs].find(([canonicalArgs]) => argsAndKey.startsWith(canonicalArgs))
          if (!found) return undefined
          const [canonicalArgs, made] = found
          const key = argsAndKey.slice(canonicalArgs.length)
          return made.sentFor(key)?.then((items) => join.valueOf(items, key))
        })
      }
      return mergeRecorded([
        { roots: new Map(), joins },
        ...[...shares.values()].map((started) => started.recorded()),
      ])
    },
  }
  return run
}

/** `signal` is `@graphql-tools/executor`'s name, `abortSignal` graphql's. */
function executionSignal(args: Site['args']): unknown {
  const { signal, abortSignal = signal } = args as {
    readonly signal?: unknown
    readonly abortSignal?: unknown
  }
  return abortSignal
}
