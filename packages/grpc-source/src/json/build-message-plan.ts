import type { FieldRule, MessagePlan } from './message-plan.ts'

const NEAR = 256

export function createMessagePlan(): MessagePlan {
  return { rules: [], farRules: new Map(), slots: 0, parts: [], singlePass: undefined }
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
export function findSinglePass(plan: MessagePlan): void {
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
  if (last > 0) plan.singlePass = tags.slice(0, (last + 1) * 8)
}
