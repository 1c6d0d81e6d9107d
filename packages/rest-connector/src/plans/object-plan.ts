import type { ArgumentsOf } from './compile-arguments.ts'
import type { ItemsByKey, PlannableJoin } from './planned-field.ts'

/** What a join brought in one run. */
export interface Joined {
  readonly items: ItemsByKey
  /** The field's JSON text by key, as far as it is written. */
  readonly texts: Map<string, string>
}

export type JoinedItems = ReadonlyMap<PlannedJoin, Joined>

/** The JSON text of a value. @throws Unsure */
export type Write = (value: unknown, joined: JoinedItems) => string

/** Takes a field's value out of its parent, which is an object of a response. */
export type Read = (parent: Readonly<Record<string, unknown>>) => unknown

/** A selection on an object of a response. */
export interface ObjectPlan {
  readonly joins: readonly PlannedJoin[]
  /** Members below which there are joins. */
  readonly children: readonly { readonly read: Read; readonly plan: ObjectPlan }[]
  readonly write: Write
}

/** A batched join within a selection. */
export interface PlannedJoin {
  readonly join: PlannableJoin
  readonly argumentsOf: ArgumentsOf
  /** The parent's key; null: it has none. @throws Unsure */
  key(parent: Readonly<Record<string, unknown>>): unknown
  /** For the items. */
  readonly plan: ObjectPlan
}

export function hasJoins({ joins, children }: ObjectPlan): boolean {
  return joins.length > 0 || children.length > 0
}
