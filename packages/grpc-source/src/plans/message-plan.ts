import type { Transcoder } from './transcoder.ts'
import type { Words } from './words.ts'

/**
 * What to do where a field is met on the wire.
 * - `last`: remember the place; a later one takes its place.
 * - `once`: remember the place; a second one would be merged into the first, which is left to ordinary execution.
 * - `list`: remember where the first begins and the last ends.
 * - `check`: not selected, but what ordinary execution would refuse is refused.
 */
export type Handling = 'last' | 'once' | 'list' | 'check'

export interface FieldRule {
  readonly number: number
  readonly wireType: number
  readonly handling: Handling
  /** Where in the message's slots its place is kept: two numbers, begin and end. -1: nowhere. */
  readonly slot: number
  /** A repeated field: it may come packed. */
  readonly isList: boolean
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
  readonly head: Words
  /** The slot of the field; -1: `head` is everything. */
  readonly slot: number
  /** What stands there, or writes it, when the field is not in the message; undefined: ordinary execution decides. */
  readonly absent: Uint8Array | ((transcoder: Transcoder) => void) | undefined
  readonly write: WriteValue
}

/** How a message becomes a JSON object: which fields to look for, and what to write in which order. */
export interface MessagePlan {
  /** By field number, where that is small. */
  readonly rules: (FieldRule | undefined)[]
  readonly farRules: Map<number, FieldRule>
  slots: number
  readonly parts: Part[]
  /**
   * The index of a part by the tag of its field, -1 for other tags: for selections in the order of the fields' numbers,
   * in which most encoders write them. Undefined where one pass over a message is not enough.
   */
  straight: Int16Array | undefined
}

const NEAR = 256

export function createMessagePlan(): MessagePlan {
  return { rules: [], farRules: new Map(), slots: 0, parts: [], straight: undefined }
}

export function addRule(plan: MessagePlan, rule: FieldRule): void {
  if (rule.number >= NEAR) {
    plan.farRules.set(rule.number, rule)
    return
  }
  // Without holes the array stays a fast one.
  while (plan.rules.length <= rule.number) plan.rules.push(undefined)
  plan.rules[rule.number] = rule
}

/** Finds out whether messages may be read in one pass. */
export function straighten(plan: MessagePlan): void {
  const bySlot = new Map<number, FieldRule>()
  for (const rule of plan.rules) if (rule && rule.slot !== -1) bySlot.set(rule.slot, rule)
  const tags = new Int16Array(NEAR * 8).fill(-1)
  let last = 0
  for (const [index, { slot }] of plan.parts.entries()) {
    if (slot === -1) continue
    const rule = bySlot.get(slot)
    const isPlain = rule?.handling === 'last' || (rule?.handling === 'once' && !rule.check)
    if (!rule || !isPlain || rule.clears.length > 0 || rule.number <= last) return
    tags[rule.number * 8 + rule.wireType] = index
    last = rule.number
  }
  if (last > 0) plan.straight = tags.slice(0, (last + 1) * 8)
}
