import type { SharedJoins, SharedKey, Site } from '@vinyasa/source-kit'
import type { ArgumentsOf } from './compile-arguments.ts'
import type { PlannableJoin } from './planned-field.ts'

/** The items that a joined field of a selection brought, for all parents of one execution. */
export interface Joined {
  /** The items for a key. */
  readonly items: (key: string) => readonly unknown[]
  /** The field's JSON by key; undefined where it is not written yet. */
  readonly texts: Map<string, WrittenText | undefined>
}

export interface WrittenText {
  readonly text: string
  /** How many objects are in it. */
  readonly objects: number
}

export interface JoinedItems {
  of(join: PlannedJoin): Joined
  readonly shared: SharedJoins<string>
}

/** A value that is being written, with what joins brought for it. */
export class Writing {
  /** The number of objects that are written. */
  objects = 0
  readonly joined: JoinedItems
  readonly #size: Pick<Site['size'], 'hold'>

  constructor(joined: JoinedItems, size: Pick<Site['size'], 'hold'>) {
    this.joined = joined
    this.#size = size
  }

  /** Refuses text that is a part of it and larger than the whole answer may be. @throws GraphQLError */
  hold(characters: number): void {
    this.#size.hold(this.objects, characters)
  }
}

/** The JSON text of a value. @throws FallBack */
export type Write = (value: unknown, writing: Writing) => string

/** The same in pieces, where there are long lists. @throws FallBack */
export type WritePieces = (value: unknown, writing: Writing) => Iterable<string>

/** Takes a field's value out of its parent, which is an object of a response. */
export type Read = (parent: Readonly<Record<string, unknown>>) => unknown

/** A selection on an object of a response. */
export interface ObjectPlan {
  /** Joined fields, and members below which there are some, in the order of the selection. */
  readonly below: readonly (PlannedJoin | KeyedShare | JoiningMember)[]
  readonly write: Write
  /** Undefined where it has no lists. */
  readonly pieces: WritePieces | undefined
}

/** A batched join within a selection. */
export interface PlannedJoin {
  readonly kind: 'join'
  readonly join: PlannableJoin
  readonly argumentsOf: ArgumentsOf
  /** The parent's key; null: it has none. @throws FallBack */
  key(parent: Readonly<Record<string, unknown>>): unknown
  /** For the items. */
  readonly plan: ObjectPlan
}

/** A field that another kind of source joins. */
export interface KeyedShare {
  readonly kind: 'share'
  readonly shared: SharedKey['shared']
  /** Returns the parent's key, as for a {@link PlannedJoin}. @throws FallBack */
  key(parent: Readonly<Record<string, unknown>>): unknown
}

/** A member with joined fields in it. */
export interface JoiningMember {
  readonly kind: 'member'
  readonly read: Read
  readonly plan: ObjectPlan
}

/** A key as joins of other kinds of sources take it. */
export function keyText(key: unknown): string | null {
  return key === null ? null : String(key)
}

export function hasJoins({ below }: ObjectPlan): boolean {
  return below.length > 0
}
