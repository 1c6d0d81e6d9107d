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
import { endingsOf } from '../http/ending.ts'
import { argumentsText } from '../json.ts'
import type { Joined, JoinedItems, PlannedJoin } from '../json/object-plan.ts'
import type { PlannableJoin } from '../json/planned-field.ts'

/** A key that a parent needs, as it came. */
export interface AskedKey {
  readonly key: string
  readonly planned: PlannedJoin
  readonly raw: unknown
}

/** What a joined field brings, and the calls that bring it. */
interface JoinedByCalls extends Joined {
  readonly calls: JoinCalls<AskedKey, ItemsByKey>
}

const NOTHING: readonly unknown[] = []

/**
 * The joins of one execution. Most have none, and make nothing of this; it is a class because a getter in a literal gives each
 * object a hidden class.
 */
export class JoinRun implements JoinedItems {
  readonly scope: FieldScope
  readonly #site: Site
  #joins: PlannedJoins<PlannableJoin, AskedKey, ItemsByKey> | undefined
  #shared: SharedJoins<string> | undefined
  #joined: Map<PlannedJoin, JoinedByCalls> | undefined

  constructor(site: Site) {
    const { variables, args } = site
    const context = args.contextValue as object
    // `signal` is `@graphql-tools/executor`'s name, `abortSignal` graphql's.
    const { signal, abortSignal = signal } = args as { signal?: AbortSignal; abortSignal?: AbortSignal }
    this.#site = site
    // The variables stand for the execution, to count its calls.
    this.scope = {
      endings: endingsOf(context, abortSignal, site.isOneCall),
      context,
      operation: variables,
      schema: args.schema,
    }
  }

  get shared(): SharedJoins<string> {
    return (this.#shared ??= new SharedJoins(this.#site, String))
  }

  /** Ordinary execution has taken over, and makes what calls are left to make. */
  get isOver(): boolean {
    return this.#joins?.isOver ?? false
  }

  /** @throws FallBack */
  of(planned: PlannedJoin): JoinedByCalls {
    this.#joined ??= new Map()
    let known = this.#joined.get(planned)
    if (known) return known
    const { join, argumentsOf } = planned
    const given = argumentsOf(this.#site.variables)
    const calls = this.#planned().callsOf(join, argumentsText(given), (asked) =>
      join.loadItems(
        asked.map(({ raw }) => raw),
        given,
        this.scope,
      ),
    )
    known = { calls, items: (key) => calls.replyFor(key)?.get(key) ?? NOTHING, texts: new Map() }
    this.#joined.set(planned, known)
    return known
  }

  /** Ends it. What was called is told once. */
  recorded(): Recorded {
    return mergeRecorded([this.#planned().recorded(), this.shared.recorded()])
  }

  #planned(): PlannedJoins<PlannableJoin, AskedKey, ItemsByKey> {
    return (this.#joins ??= new PlannedJoins((_join, items) => items))
  }
}

export function createJoinRun(site: Site): JoinRun {
  return new JoinRun(site)
}
