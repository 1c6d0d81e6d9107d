import type { DescMessage } from '@bufbuild/protobuf'
import { ListValueSchema, StructSchema, ValueSchema } from '@bufbuild/protobuf/wkt'
import type { FieldShape, ValueKind } from '../contract/shapes.ts'
import { leafReader, wireTypeOf, type Codecs } from '../codec/leaf-reader.ts'
import { addRule, createMessagePlan, slotRule, type UnselectedRules } from './build-message-plan.ts'
import type { FieldRule, MessagePlan } from './transcoder.ts'

type Check = NonNullable<FieldRule['check']>

export interface SkipRules extends UnselectedRules {
  /** Looks through one value of a field whose content is not selected. */
  check(field: FieldShape): Check | undefined
}

/**
 * Ordinary decoding reads all of a message. For an operation to fail with a plan where it fails without one, parts that
 * are not selected are looked through too: cheaply, and nothing is kept of them.
 */
export function createSkipRules(codecs: Codecs): SkipRules {
  const { shapes, scalars } = codecs
  const plans = new Map<DescMessage, MessagePlan>()
  const anyFields = createMessagePlan()

  function planOf(desc: DescMessage): MessagePlan {
    const known = plans.get(desc)
    if (known) return known
    const plan = createMessagePlan()
    plans.set(desc, plan)
    for (const field of shapes.message(desc).fields) {
      const found = rule(field)
      if (found) addRule(plan, found)
    }
    return plan
  }

  function nested(plan: () => MessagePlan, number: number): Check {
    return (transcoder, wireType) => transcoder.checkNested(plan(), wireType === 3 ? number : 0)
  }

  function check(value: ValueKind, number: number): Check | undefined {
    if (value.kind === 'message') return nested(() => planOf(value.message), number)
    if (value.kind !== 'wellKnown') return undefined
    switch (value.type) {
      // Levels that are too many are too deep for a plan too, which leaves them to ordinary decoding.
      case 'google.protobuf.Struct':
        return nested(() => planOf(StructSchema), number)
      case 'google.protobuf.Value':
        return nested(() => planOf(ValueSchema), number)
      case 'google.protobuf.ListValue':
        return nested(() => planOf(ListValueSchema), number)
      case 'google.protobuf.Any':
      case 'google.protobuf.FieldMask': {
        const read = leafReader(value, codecs)
        return ({ reader }) => void read(reader)
      }
      default:
        return nested(() => anyFields, number)
    }
  }

  function entryCheck(field: FieldShape): Check | undefined {
    const ofValue = check(field.value, 2)
    const plan = createMessagePlan()
    if (ofValue) addRule(plan, slotRule(2, wireTypeOf(field.value, scalars), -1, ofValue))
    return nested(() => plan, field.desc.number)
  }

  function anyContent(field: FieldShape): FieldRule {
    const wireType = field.cardinality === 'map' ? 2 : wireTypeOf(field.value, scalars)
    const isList = field.cardinality === 'list'
    const isItem = field.cardinality !== 'single'
    return { ...slotRule(field.desc.number, wireType, -1, undefined), isList, isItem }
  }

  function rule(field: FieldShape): FieldRule | undefined {
    const plain = anyContent(field)
    const found = field.cardinality === 'map' ? entryCheck(field) : check(field.value, field.desc.number)
    return found || plain.isItem ? { ...plain, check: found } : undefined
  }

  return { rule, anyContent, check: (field) => check(field.value, field.desc.number) }
}
