import type { PreparedJoin } from '@vinyasa/source-kit'
import type { ArgumentsOf } from './compile-arguments.ts'
import type { ItemsByKey, PlannableJoin } from './planned-field.ts'

/** What a join brought for the values that are written together. */
export interface Joined {
  readonly items: ItemsByKey
  /** The field's JSON text by key, as far as it is written; null: for parents without a key. */
  readonly texts: Map<string | null, string>
}

export type JoinedItems = ReadonlyMap<PlannedJoin | KeyedShare, Joined>

/** The JSON text of a value. @throws FallBack */
export type Write = (value: unknown, joined: JoinedItems) => string

/** The same in pieces, where there are long lists. @throws FallBack */
export type WritePieces = (value: unknown, joined: JoinedItems) => Iterable<string>

/** Takes a field's value out of its parent, which is an object of a response. */
export type Read = (parent: Readonly<Record<string, unknown>>) => unknown

/** A selection on an object of a response. */
export interface ObjectPlan {
  readonly joins: readonly PlannedJoin[]
  /** Those of other kinds of sources. */
  readonly shared: readonly KeyedShare[]
  /** Members below which there are joins. */
  readonly children: readonly { readonly read: Read; readonly plan: ObjectPlan }[]
  readonly write: Write
  /** Undefined where it has no lists. */
  readonly pieces: WritePieces | undefined
}

/** A batched join within a selection. */
export interface PlannedJoin {
  readonly join: PlannableJoin
  readonly argumentsOf: ArgumentsOf
  /** The parent's key; null: it has none. @throws FallBack */
  key(parent: Readonly<Record<string, unknown>>): unknown
  /** For the items. */
  readonly plan: ObjectPlan
}

/** A field that another kind of source joins. */
export interface KeyedShare {
  readonly shared: PreparedJoin
  key(parent: Readonly<Record<string, unknown>>): string | null
}

export function hasJoins({ joins, shared, children }: ObjectPlan): boolean {
  return joins.length > 0 || shared.length > 0 || children.length > 0
}
