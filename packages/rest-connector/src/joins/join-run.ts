import { mergeRecorded, type Recorded, type Site, type StartedJoin } from '@vinyasa/source-kit'
import type { FieldScope } from '../call/call.ts'
import { signalsOf } from '../http/ending.ts'
import type { KeyedShare } from '../json/object-plan.ts'
import type { ItemsByKey, PlannableJoin } from '../json/planned-field.ts'

/** What the call of a join was asked, and the items it brought, by key. */
export interface RecordedCall {
  readonly asked: ReadonlySet<string>
  readonly items: Promise<ItemsByKey>
}

/** The joins of one execution. */
export interface JoinRun extends Pick<Site, 'variables'> {
  readonly scope: FieldScope
  /** Ordinary execution has taken over, and makes what calls are left to make. */
  readonly isOver: boolean
  /** Keeps a call that was made, whatever came of it. */
  record(join: PlannableJoin, call: RecordedCall): void
  started(share: KeyedShare): StartedJoin
  /** Ends it. */
  recorded(): Recorded
}

export function createJoinRun(site: Site): JoinRun {
  const { variables, args } = site
  const context = args.contextValue as object
  const calls = new Map<PlannableJoin, RecordedCall[]>()
  const shares = new Map<KeyedShare, StartedJoin>()
  let isOver = false
  return {
    variables,
    // The variables stand for the execution, to count its calls.
    scope: {
      signals: signalsOf(context, executionSignal(args)),
      context,
      operation: variables,
      schema: args.schema,
    },
    get isOver() {
      return isOver
    },
    record(join, call) {
      // Execution may end before it looks at every field.
      call.items.catch(() => {})
      calls.set(join, [...(calls.get(join) ?? []), call])
    },
    started(share) {
      let known = shares.get(share)
      if (!known) shares.set(share, (known = share.shared.start(site)))
      return known
    },
    recorded() {
      isOver = true
      const joins = new Map(
        [...calls].map(([join, made]) => {
          const find = (key: string): Promise<unknown> | undefined =>
            made.find(({ asked }) => asked.has(key))?.items.then((items) => join.valueOf(items, key))
          return [join, find] as const
        }),
      )
      const others = [...shares.values()].map(({ recorded }) => recorded())
      return mergeRecorded([{ roots: new Map(), joins }, ...others])
    },
  }
}

/** `signal` is `@graphql-tools/executor`'s name, `abortSignal` graphql's. */
function executionSignal(args: Site['args']): unknown {
  const { signal, abortSignal = signal } = args as {
    readonly signal?: unknown
    readonly abortSignal?: unknown
  }
  return abortSignal
}
