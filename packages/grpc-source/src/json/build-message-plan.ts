import type { FieldShape } from '../contract/shapes.ts'
import { toLiteral, type Literal } from './json-writer.ts'
import type { CompiledField, FieldRule, MessagePlan, Part } from './transcoder.ts'

const NEAR = 256
/** One list for all rules that clear nothing, as most do. */
const NONE: readonly FieldRule[] = []
const NO_FAR_RULES: MessagePlan['farRules'] = new Map()

export function createMessagePlan(): MessagePlan {
  return { rules: [], farRules: NO_FAR_RULES, slots: 0, parts: [], singlePass: undefined }
}

export function addRule(plan: MessagePlan, rule: FieldRule): void {
  if (rule.number >= NEAR) {
    if (plan.farRules === NO_FAR_RULES) plan.farRules = new Map()
    plan.farRules.set(rule.number, rule)
    return
  }
  // Without holes the array stays a fast one.
  while (plan.rules.length <= rule.number) plan.rules.push(undefined)
  plan.rules[rule.number] = rule
}

/** A rule for a field with one value, whose place is kept in a slot; -1: it is only checked. */
export function slotRule(
  number: number,
  wireType: number,
  slot: number,
  check: FieldRule['check'],
): FieldRule {
  const handling = slot === -1 ? 'check' : 'once'
  return { number, wireType, handling, slot, isList: false, isItem: false, check, clears: NONE }
}

/** A part that is always the same. */
export function constantPart(head: string): Part {
  return { head: toLiteral(head), slot: -1, absent: undefined, write: () => {} }
}

/** The rules for fields that are not selected. */
export interface UnselectedRules {
  /** The rule for a field that is not selected; undefined where any content is right. */
  rule(field: FieldShape): FieldRule | undefined
  /** A rule that lets any content pass. */
  anyContent(field: FieldShape): FieldRule
}

/** Puts together what a selection on a message writes, and how the fields for it are found. */
export class MessagePlanBuilder {
  readonly plan: MessagePlan = createMessagePlan()
  private readonly rules = new Map<FieldShape, FieldRule>()

  /** Gives a field a slot. */
  place(field: FieldShape, compiled: CompiledField['rule']): FieldRule {
    const { number, wireType, handling, isList, check } = compiled
    const { slots: slot } = this.plan
    const rule: FieldRule = { number, wireType, handling, slot, isList, isItem: false, check, clears: NONE }
    this.plan.slots += 2
    this.rules.set(field, rule)
    addRule(this.plan, rule)
    return rule
  }

  addPart(head: Literal, field: FieldShape, { rule, absent, write }: CompiledField): void {
    const { slot } = this.rules.get(field) ?? this.place(field, rule)
    this.plan.parts.push({ head, slot, absent, write })
  }

  /** The plan, when all parts are in it. `fields`: all of the message. */
  finish(fields: readonly FieldShape[], unselected: UnselectedRules): MessagePlan {
    for (const field of fields) {
      const rule = this.rules.has(field) ? undefined : unselected.rule(field)
      if (!rule) continue
      this.rules.set(field, rule)
      addRule(this.plan, rule)
    }
    for (const field of fields) {
      const siblings = field.oneof?.fields.filter((other) => other !== field) ?? []
      const clears = siblings.flatMap((other) => {
        const rule = this.rules.get(other)
        return rule && rule.slot !== -1 ? [rule] : []
      })
      if (clears.length === 0) continue
      const own = this.rules.get(field)
      if (own) own.clears = clears
      else addRule(this.plan, { ...unselected.anyContent(field), clears })
    }
    findSinglePass(this.plan)
    return this.plan
  }
}

/** Finds out whether messages may be read in one pass. */
function findSinglePass(plan: MessagePlan): void {
  const bySlot = new Map<number, FieldRule>()
  for (const rule of plan.rules) if (rule && rule.slot !== -1) bySlot.set(rule.slot, rule)
  const tags = new Int16Array(plan.rules.length * 8).fill(-1)
  let last = 0
  for (const [index, { slot }] of plan.parts.entries()) {
    if (slot === -1) continue
    const rule = bySlot.get(slot)
    const isPlain = rule?.handling === 'last' || (rule?.handling === 'once' && !rule.check)
    if (!rule || !isPlain || rule.clears.length > 0 || rule.number <= last) return
    tags[rule.number * 8 + rule.wireType] = index
    last = rule.number
  }
  if (last > 0) plan.singlePass = tags.slice(0, (last + 1) * 8)
}
