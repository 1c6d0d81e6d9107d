import type { DescMessage } from '@bufbuild/protobuf'
import type { BatchedJoin, ItemsByKey, SharedKey } from '@vinyasa/source-kit'
import type { WireReader } from '../codec/wire-reader.ts'
import type { MethodRuntime } from '../methods/method-runtime.ts'
import type { FieldShape } from '../contract/shapes.ts'
import type { JsonWriter } from './json-writer.ts'
import type { LeafOptions } from './reply-codecs.ts'
import type { Literal } from './literal.ts'

// Plans of replies are made of these types, which name each other and so stand together.

/**
 * The way to handle a field that is met on the wire.
 * - `last`: remember the place; a later one takes its place.
 * - `once`: remember the place; a second one would be merged into the first, which is left to ordinary
 *   execution.
 * - `list`: remember where the first begins and the last ends.
 * - `check`: not selected, but what ordinary execution would refuse is refused.
 */
export type Handling = 'last' | 'once' | 'list' | 'check'

export interface FieldRule {
  readonly number: number
  readonly wireType: number
  readonly handling: Handling
  /** The index in the message's slots where its place is kept: two numbers, begin and end. -1: nowhere. */
  readonly slot: number
  /** A repeated field: it may come packed. */
  readonly isList: boolean
  /** A list or a map that is not selected: each of its items counts all the same. */
  readonly isItem: boolean
  /** Looks at the content where nobody else does. Undefined: there is nothing in it that could be wrong. */
  readonly check: ((transcoder: Transcoder, wireType: number) => void) | undefined
  /** The selected members of the same oneof, which this one unsets. */
  clears: readonly FieldRule[]
}

/** Writes a value that begins at the reader's place; lists and maps end at `end`. */
export type WriteValue = (transcoder: Transcoder, end: number) => void

/** One entry of an object in the answer. */
export interface Part {
  /** The comma, the key and the colon; for `__typename` the value too. */
  readonly head: Literal
  /** The slot of the field; -1: `head` is everything. */
  readonly slot: number
  /**
   * The value, or its writer, when the field is not in the message; undefined: ordinary execution decides.
   */
  readonly absent: Uint8Array | ((transcoder: Transcoder) => void) | undefined
  readonly write: WriteValue
}

/** How a message becomes a JSON object: which fields to look for, and what to write in which order. */
export interface MessagePlan {
  /** By field number, where that is small. */
  readonly rules: (FieldRule | undefined)[]
  farRules: Map<number, FieldRule>
  slots: number
  readonly parts: Part[]
  /**
   * The index of a part by the tag of its field, -1 for other tags: for selections in the order of the fields' numbers,
   * in which most encoders write them. Undefined where one pass over a message is not enough.
   */
  singlePass: Int16Array | undefined
}

/** How a field is found in a message, and how it is written. */
export interface CompiledField {
  readonly rule: Omit<FieldRule, 'slot' | 'clears' | 'isItem'>
  readonly absent: Part['absent']
  readonly write: WriteValue
}

/**
 * Turns protobuf bytes into JSON bytes, as a plan says. It is used by one at a time and never across an `await`.
 */
export interface Transcoder {
  readonly json: JsonWriter
  readonly reader: WireReader
  /** The places where joined values belong in what was written, in the order of writing. */
  gaps: Gap[]
  /** The lists that were left out, in the order of writing. */
  lists: LongList[]
  /** How many objects were written since it began. */
  objects: number
  /** `longestList`: bytes above which a list is left out. Default: none is. */
  begin(bytes: Uint8Array, longestList?: number): void
  /**
   * Begins anew with some of the items of a list that was left out, from the place of `reader`, until they fill
   * `fullBytes` of JSON.
   */
  someItems(reader: WireReader, list: LongList, fullBytes: number): void
  /**
   * The message that fills the rest of the reader's range; with `group`, up to the end of that group. `inspect` is
   * given the place of the first slot before anything is written.
   */
  object(plan: MessagePlan, group?: number, inspect?: (place: number) => void): void
  /** The one field that a plan selects, in place of the message. */
  field(plan: MessagePlan): void
  nestedObject(plan: MessagePlan, group: number, inspect?: (place: number) => void): void
  checkNested(plan: MessagePlan, group: number): void
  /** The items of a list, from its first to its last. */
  items(number: number, wireType: number, end: number, write: WriteValue): void
}

/** Makes the request of a batched join for some keys. */
export type ToBatchRequest = (keys: readonly string[]) => Readonly<Record<string, unknown>>

/** The facts about a batched join that a plan needs. */
export interface PlannableJoin extends BatchedJoin {
  readonly runtime: MethodRuntime
  readonly output: DescMessage
  readonly toRequest: ToBatchRequest
  /** The response's field that holds the items. */
  readonly items: FieldShape
  readonly itemKey: FieldShape
  /** The parent's field that is its key. */
  readonly parentKey: string
  readonly codecs: LeafOptions
  readonly transcoder: Transcoder
  /** Returns what ordinary execution makes of a reply. */
  readonly itemsIn: (reply: Uint8Array) => ItemsByKey
}

/** A selected field that a join resolves. */
export interface JoinPlace {
  readonly join: PlannableJoin
  /** A reply of the join, with the items as this place selects them. */
  readonly read: (bytes: Uint8Array) => JoinReply
  /** The items of a reply that another place has read. @throws where there is no plan for what is in them */
  readonly itemsIn: (bytes: Uint8Array) => JoinedItems
  /** The JSON for a key without items; undefined: ordinary execution decides. */
  readonly missing: Buffer | undefined
}

/** The place where a joined value belongs in JSON that is written without it. */
export type Gap = JoinGap | SharedGap

export interface JoinGap {
  readonly at: number
  readonly place: JoinPlace
  /** Null: the parent has none. */
  readonly key: string | null
}

export interface SharedGap extends SharedKey {
  readonly at: number
}

/** A list that is left out of what was written, to be written later. */
export interface LongList {
  readonly at: number
  readonly number: number
  readonly wireType: number
  readonly write: WriteValue
  /** The places where its first item begins and where its last one ends. */
  readonly from: number
  readonly end: number
  /** The end of the message that it is in. */
  readonly within: number
  readonly depth: number
}

/** A part of JSON, and the gaps in it. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly gaps: readonly Gap[]
  /** How many objects are in it, without those in the gaps. */
  readonly objects: number
}

/** The items of a reply as one place selects them. */
export interface JoinedItems {
  readonly json: Buffer
  readonly byKey: ReadonlyMap<string, readonly Span[]>
}

export interface JoinReply {
  readonly bytes: Uint8Array
  /** By the places that have read it. Undefined where the plan falls back, for `reason`. */
  readonly items: Map<JoinPlace, JoinedItems> | undefined
  readonly reason: string | undefined
}
