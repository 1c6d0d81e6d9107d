import type { DescMessage } from '@bufbuild/protobuf'
import { FallBack, type BatchedJoin, type ItemsByKey, type SharedKey } from '@vinyasa/source-kit'
import { MAX_DEPTH, type LeafOptions } from '../codec/decode.ts'
import { WireReader } from '../codec/wire-reader.ts'
import type { FieldShape } from '../contract/shapes.ts'
import type { MethodRuntime } from '../methods/method-runtime.ts'
import { JsonWriter, type Literal } from './json-writer.ts'

const COMMA = 0x2c
const BRACE = 0x7b
const END_BRACE = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const NOTHING = Buffer.alloc(0)

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

/**
 * Writes items of a list, from the reader's place to `end`, where other fields may lie between them; it stops behind an
 * item that fills `fullBytes` of JSON. Packed items are written together.
 */
function writeItems(
  transcoder: Transcoder,
  number: number,
  wireType: number,
  end: number,
  write: WriteValue,
  first: boolean,
  fullBytes: number,
): void {
  const { reader, json } = transcoder
  let isFirst = first
  while (reader.pos < end && json.length < fullBytes) {
    const tag = reader.uint32()
    const actual = tag & 7
    if (tag >>> 3 !== number || (actual !== wireType && actual !== 2)) {
      reader.skip(actual, tag >>> 3)
      continue
    }
    if (actual === wireType) {
      reader.item()
      if (!isFirst) json.byte(COMMA)
      isFirst = false
      write(transcoder, end)
      continue
    }
    const outer = reader.enter()
    while (reader.pos < reader.end) {
      reader.item()
      if (!isFirst) json.byte(COMMA)
      isFirst = false
      write(transcoder, end)
    }
    reader.leave(outer)
  }
}

/**
 * Turns protobuf bytes into JSON bytes, as a plan says, in two passes over each message: the first notes where the
 * selected fields lie, and refuses what ordinary decoding refuses; the second writes them in the order of the selection.
 * Where the fields lie in this order, one pass does both. It is used by one at a time and never across an `await`.
 */
export class Transcoder {
  readonly json: JsonWriter = new JsonWriter()
  reader: WireReader = new WireReader(NOTHING)
  /** The places where joined values belong in what was written, in the order of writing. */
  gaps: Gap[] = []
  /** The lists that were left out, in the order of writing. */
  lists: LongList[] = []
  /** How many objects were written since it began. */
  objects = 0
  private longestList = Infinity
  private depth = 0
  /** Begin and end of the selected fields of the messages that are open, innermost last. */
  private slots = new Int32Array(512)
  private top = 0
  private readonly maxItems: number | undefined

  /** `maxItems`: members of lists and maps that one reply may have. Default 100 000. */
  constructor(maxItems?: number) {
    this.maxItems = maxItems
  }

  /** `longestList`: bytes above which a list is left out. Default: none is. */
  begin(bytes: Uint8Array, longestList: number = Infinity): void {
    // JSON is seldom twice as long as protobuf.
    const expected = Math.min(bytes.length, longestList) * 2
    this.restart(new WireReader(bytes, this.maxItems), expected, longestList)
  }

  /**
   * Begins anew with some of the items of a list that was left out, from the place of `reader`, until they fill
   * `fullBytes` of JSON.
   */
  someItems(reader: WireReader, list: LongList, fullBytes: number): void {
    this.restart(reader, fullBytes * 2, fullBytes)
    this.depth = list.depth
    reader.end = list.within
    writeItems(this, list.number, list.wireType, list.end, list.write, reader.pos === list.from, fullBytes)
  }

  private restart(reader: WireReader, expected: number, longestList: number): void {
    this.reader = reader
    this.json.begin(expected)
    this.gaps = []
    this.lists = []
    this.objects = 0
    this.longestList = longestList
    this.depth = 0
    this.top = 0
  }

  /**
   * The message that fills the rest of the reader's range; with `group`, up to the end of that group. `inspect` is
   * given the place of the first slot before anything is written.
   */
  object(plan: MessagePlan, group: number = 0, inspect?: (place: number) => void): void {
    const { singlePass } = plan
    this.objects++
    if (singlePass && group === 0 && !inspect && this.singlePass(plan, singlePass)) return
    const { json, reader } = this
    const base = this.open(plan)
    this.scan(plan, base, group)
    const after = reader.pos
    if (inspect) inspect(this.slots[base] as number)
    json.byte(BRACE)
    for (const { head, slot, absent, write } of plan.parts) {
      json.literal(head)
      if (slot === -1) continue
      const at = this.slots[base + slot] as number
      if (at === -1) {
        this.absent(absent)
        continue
      }
      reader.pos = at
      write(this, this.slots[base + slot + 1] as number)
    }
    json.byte(END_BRACE)
    reader.pos = after
    this.close(base)
  }

  /** The one field that a plan selects, in place of the message. */
  field(plan: MessagePlan): void {
    const { reader } = this
    const [part] = plan.parts
    const base = this.open(plan)
    this.scan(plan, base, 0)
    if (!part) throw new FallBack('no field is selected')
    const at = this.slots[base + part.slot] as number
    if (at !== -1) {
      reader.pos = at
      part.write(this, this.slots[base + part.slot + 1] as number)
    } else this.absent(part.absent)
    this.close(base)
  }

  /** A nested message, behind its length or in its group. */
  nestedObject(plan: MessagePlan, group: number, inspect?: (place: number) => void): void {
    const outer = group === 0 ? this.reader.enter() : undefined
    this.object(plan, group, inspect)
    if (outer !== undefined) this.reader.leave(outer)
  }

  /** Refuses a nested message where ordinary decoding does; nothing of it is selected. */
  checkNested(plan: MessagePlan, group: number): void {
    const base = this.open(plan)
    const outer = group === 0 ? this.reader.enter() : undefined
    this.scan(plan, base, group)
    if (outer !== undefined) this.reader.leave(outer)
    this.close(base)
  }

  /** The values of one field, from the reader's place to `end`, where other fields may lie between them. */
  items(number: number, wireType: number, end: number, write: WriteValue): void {
    const { reader, json } = this
    json.byte(OPEN_LIST)
    if (end - reader.pos <= this.longestList) writeItems(this, number, wireType, end, write, true, Infinity)
    else {
      const [at, from, within] = [json.length, reader.pos, reader.end]
      this.lists.push({ at, number, wireType, write, from, end, within, depth: this.depth })
      reader.pos = end
    }
    json.byte(CLOSE_LIST)
  }

  /** In one pass, or false, with nothing written, where the message is not as it is expected to be. */
  private singlePass(plan: MessagePlan, partOf: Int16Array): boolean {
    const { json, reader } = this
    const { parts, rules, farRules } = plan
    const [from, written, gaps, lists] = [reader.pos, json.length, this.gaps.length, this.lists.length]
    const { objects } = this
    const { items } = reader
    if (++this.depth > MAX_DEPTH)
      throw new FallBack(`the response nests messages deeper than ${MAX_DEPTH} levels`)
    let next = 0
    let isExpected = true
    json.byte(BRACE)
    while (isExpected && reader.pos < reader.end) {
      const tag = reader.uint32()
      const index = tag < partOf.length ? (partOf[tag] as number) : -1
      if (index === -1) {
        const number = tag >>> 3
        const rule = number < rules.length ? rules[number] : farRules.get(number)
        isExpected = rule === undefined || (rule.isItem && !rule.check && rule.wireType === (tag & 7))
        if (isExpected) {
          if (rule) reader.item()
          reader.skip(tag & 7, number)
        }
      } else if (index < next || !this.without(parts, next, index)) isExpected = false
      else {
        const { head, write } = parts[index] as Part
        json.literal(head)
        write(this, reader.end)
        next = index + 1
      }
    }
    this.depth--
    if (isExpected && this.without(parts, next, parts.length)) {
      json.byte(END_BRACE)
      return true
    }
    // Others of its kind are most likely the same.
    plan.singlePass = undefined
    reader.pos = from
    reader.items = items
    json.rewind(written)
    this.gaps.length = gaps
    this.lists.length = lists
    this.objects = objects
    return false
  }

  /** Writes parts whose fields have not come; false where one of them may come later or not at all. */
  private without(parts: readonly Part[], from: number, to: number): boolean {
    for (let index = from; index < to; index++) {
      const { head, slot, absent } = parts[index] as Part
      if (slot !== -1 && !absent) return false
      this.json.literal(head)
      if (slot !== -1) this.absent(absent)
    }
    return true
  }

  private absent(given: Part['absent']): void {
    if (!given) throw new FallBack('the response does not set a field that is non-nullable in GraphQL')
    if (typeof given === 'function') given(this)
    else this.json.raw(given)
  }

  /** Opens a frame of slots for a message. */
  private open(plan: MessagePlan): number {
    if (++this.depth > MAX_DEPTH)
      throw new FallBack(`the response nests messages deeper than ${MAX_DEPTH} levels`)
    const base = this.top
    this.top = base + plan.slots
    if (this.top > this.slots.length) {
      const larger = new Int32Array(this.top * 2)
      larger.set(this.slots)
      this.slots = larger
    }
    for (let index = base; index < this.top; index++) this.slots[index] = -1
    return base
  }

  private close(base: number): void {
    this.depth--
    this.top = base
  }

  /** Notes where the selected fields lie. */
  private scan(plan: MessagePlan, base: number, group: number): void {
    const { reader } = this
    const { rules, farRules } = plan
    for (;;) {
      if (group === 0 && reader.pos >= reader.end) return
      const tagAt = reader.pos
      const tag = reader.uint32()
      const wireType = tag & 7
      const number = tag >>> 3
      if (wireType === 4 && number === group && group !== 0) return
      const rule = number < rules.length ? rules[number] : farRules.get(number)
      if (rule === undefined) {
        reader.skip(wireType, number)
      } else if (wireType !== rule.wireType) {
        this.otherWireType(rule, wireType, base, tagAt)
      } else {
        if (rule.clears.length > 0) this.clear(rule, base)
        const at = base + rule.slot
        switch (rule.handling) {
          case 'once':
            if (this.slots[at] !== -1)
              throw new FallBack('the response contains a singular message field twice')
            this.slots[at] = reader.pos
            if (rule.check) rule.check(this, wireType)
            else reader.skip(wireType, number)
            break
          case 'last':
            this.slots[at] = reader.pos
            reader.skip(wireType, number)
            break
          case 'list':
            if (this.slots[at] === -1) this.slots[at] = tagAt
            reader.skip(wireType, number)
            this.slots[at + 1] = reader.pos
            break
          case 'check':
            if (rule.isItem) reader.item()
            if (rule.check) rule.check(this, wireType)
            else reader.skip(wireType, number)
        }
      }
    }
  }

  private otherWireType(rule: FieldRule, wireType: number, base: number, tagAt: number): void {
    const { reader } = this
    if (!rule.isList || wireType !== 2) {
      reader.skip(wireType, rule.number)
      return
    }
    if (rule.wireType === 3)
      throw new FallBack('the response encodes a group field as a length-delimited message')
    if (rule.handling === 'list') {
      const at = base + rule.slot
      if (this.slots[at] === -1) this.slots[at] = tagAt
      reader.skip(wireType, rule.number)
      this.slots[at + 1] = reader.pos
    } else {
      const outer = reader.enter()
      for (; reader.pos < reader.end; reader.item()) reader.skip(rule.wireType, rule.number)
      reader.leave(outer)
    }
  }

  /** The last member of a oneof on the wire is the one that is set. */
  private clear(rule: FieldRule, base: number): void {
    for (const other of rule.clears) {
      const at = base + other.slot
      if (this.slots[at] === -1) continue
      if (other.handling === 'once') throw new FallBack('the response sets two fields of the same oneof')
      this.slots[at] = -1
    }
  }
}
