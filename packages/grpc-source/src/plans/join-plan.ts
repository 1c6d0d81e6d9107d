import type { PreparedJoin } from '@vinyasa/source-kit'
import type { MessagePlan } from './message-plan.ts'
import type { PlannableJoin } from './planned-field.ts'

/** A join of an operation, whose calls serve all fields that select it. */
export interface PlannedJoin {
  readonly join: PlannableJoin
  readonly places: JoinPlace[]
  readonly read: (bytes: Uint8Array) => JoinReply
}

/** A selected field that a join resolves. */
export interface JoinPlace {
  readonly join: PlannedJoin
  /** Finds and writes the items in a reply of the join. */
  readonly plan: MessagePlan
  /** What stands for a key without items; undefined: ordinary execution decides. */
  readonly missing: Buffer | undefined
}

/** A selected field that another kind of source joins. */
export interface SharedPlace {
  readonly shared: PreparedJoin
}

/** Where a joined value belongs in JSON that is written without it. */
export type Gap = JoinGap | SharedGap

export interface JoinGap {
  readonly at: number
  readonly place: JoinPlace
  /** Null: the parent has none. */
  readonly key: string | null
}

export interface SharedGap extends Pick<JoinGap, 'at' | 'key'> {
  readonly place: SharedPlace
}

/** A part of JSON, and the gaps in it. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly gaps: readonly Gap[]
}

/** The items of a reply as one place selects them. */
export interface JoinedItems {
  readonly json: Buffer
  readonly byKey: ReadonlyMap<string, readonly Span[]>
}

export interface JoinReply {
  readonly bytes: Uint8Array
  /** Undefined where the plan falls back, for `reason`. */
  readonly items: ReadonlyMap<JoinPlace, JoinedItems> | undefined
  readonly reason: string | undefined
}
