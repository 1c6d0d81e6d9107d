import type { ExecutionArgs } from 'graphql'
import type { FieldScope } from '../call.ts'
import { signalsOf } from '../signals.ts'
import type { Variables } from './coerce-variables.ts'
import type { KeyedShare } from './object-plan.ts'
import type { Executor } from './plain-executor.ts'
import type { PlannableJoin } from './planned-field.ts'
import { withReplies, type RecordedJoin, type RecordedReplies } from './recorded-replies.ts'
import type { StartedJoin } from './shared-join.ts'

/** The joins of one execution. */
export interface JoinRun {
  readonly variables: Variables
  readonly scope: FieldScope
  /** Ordinary execution has taken over, and makes what calls are left to make. */
  readonly isOver: boolean
  /** Keeps a call that was made, whatever came of it. */
  record(join: PlannableJoin, call: RecordedJoin): void
  started(share: KeyedShare): StartedJoin
  /** Ends it: executes with what was called, and with these replies for root fields. */
  replay(roots: RecordedReplies['roots'], args: ExecutionArgs, execute: Executor): unknown
}

export function createJoinRun(variables: Variables, args: ExecutionArgs): JoinRun {
  const context = args.contextValue as object
  const recorded = new Map<PlannableJoin, RecordedJoin[]>()
  const shares = new Map<KeyedShare, StartedJoin>()
  let isOver = false
  return {
    variables,
    // The variables stand for the execution, to count its calls.
    scope: { signals: signalsOf(context, executionSignal(args)), context, operation: variables },
    get isOver() {
      return isOver
    },
    record(join, call) {
      // Execution may end before it looks at every field.
      call.items.catch(() => {})
      recorded.set(join, [...(recorded.get(join) ?? []), call])
    },
    started(share) {
      let known = shares.get(share)
      if (!known) shares.set(share, (known = share.shared.start(variables, args)))
      return known
    },
    replay(roots, replayed, execute) {
      isOver = true
      return [...shares.values()].reduce<Executor>(
        (inner, { replay }) =>
          (given) =>
            replay(given, inner),
        execute,
      )(withReplies(replayed, { roots, joins: recorded }))
    },
  }
}

/** `signal` is `@graphql-tools/executor`'s name, `abortSignal` graphql's. */
function executionSignal(args: ExecutionArgs): unknown {
  const { signal, abortSignal = signal } = args as {
    readonly signal?: unknown
    readonly abortSignal?: unknown
  }
  return abortSignal
}
