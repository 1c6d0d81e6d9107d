import type { DescMessage } from '@bufbuild/protobuf'
import { fieldsBelow, NotPlannable, ownIsTypeOf, ownNameOf, type SelectionScope } from '@vinyasa/source-kit'
import type { FieldNode, GraphQLObjectType, GraphQLOutputType } from 'graphql'
import type { FieldShape } from '../contract/shapes.ts'
import { createFieldCompiler, singleRule } from './compile-field.ts'
import { type FieldRule, type MessagePlan } from './message-plan.ts'
import { plainField } from './plain-field.ts'
import { isFlag } from '../mapping/flags.ts'
import { markOf } from './planned-field.ts'
import { createSkipRules } from './skip-rules.ts'
import { toLiteral } from './literal.ts'
import { type CompiledField } from './message-plan.ts'
import { type JoinPlans } from './join-plans.ts'
import { type LeafOptions } from './reply-codecs.ts'
import { addRule, createMessagePlan, findSinglePass } from './build-message-plan.ts'

export interface MessageCompiler {
  /** A selection on a message. `first`: a field that is found too, and has the first slot. @throws NotPlannable */
  object(
    desc: DescMessage,
    type: GraphQLObjectType,
    nodes: readonly FieldNode[],
    first?: FieldShape,
  ): MessagePlan
  /** One field of a message, in the message's place. @throws NotPlannable */
  field(
    desc: DescMessage,
    field: FieldShape,
    type: GraphQLOutputType,
    nodes: readonly FieldNode[],
  ): MessagePlan
  /** The same, compiled in a way of its own. */
  only(desc: DescMessage, field: FieldShape, compiled: CompiledField): MessagePlan
}

/** One way to write a field, under one response name. */
interface Selected {
  readonly field: FieldShape
  readonly compiled: CompiledField
  readonly head: string
}

export function createMessageCompiler(
  scope: SelectionScope,
  options: LeafOptions,
  joins: JoinPlans,
): MessageCompiler {
  const { shapes } = options
  const skipRules = createSkipRules(options)
  const compileField = createFieldCompiler(scope, options, skipRules, (desc, type, nodes) =>
    object(desc, type, nodes),
  )

  function object(
    desc: DescMessage,
    type: GraphQLObjectType,
    nodes: readonly FieldNode[],
    first?: FieldShape,
  ): MessagePlan {
    if (ownIsTypeOf(type)) throw new NotPlannable(`the type ${type.name} has an isTypeOf`)
    const { fields } = shapes.message(desc)
    const selected: (Selected | { readonly head: string })[] = []
    for (const [key, fieldNodes] of fieldsBelow(scope, type, nodes)) {
      const head = `${selected.length === 0 ? '' : ','}${JSON.stringify(key)}:`
      const name = fieldNodes[0]?.name.value as string
      if (name === '__typename') {
        selected.push({ head: `${head}${JSON.stringify(type.name)}` })
        continue
      }
      const joined = type.getFields()[name]
      const mark = joined && markOf(joined)
      if (joined && mark?.kind === 'join') {
        const { key: field, compiled } = joins.field(
          scope,
          desc,
          type,
          joined,
          mark.join,
          fieldNodes,
          options,
        )
        selected.push({ field, head, compiled })
        continue
      }
      const shared = joined && joins.shared(scope, desc, type, joined, fieldNodes, options)
      if (shared) {
        selected.push({ field: shared.key, head, compiled: shared.compiled })
        continue
      }
      const definition = plainField(type, name)
      const own = ownNameOf(definition)
      const field = fields.find((candidate) => candidate.name === own && candidate.inOutput)
      if (!field || field.annotation.resolver)
        throw new NotPlannable(`${type.name}.${name} is no field of ${desc.typeName}`)
      selected.push({
        field,
        head,
        compiled: compileField(field, definition.type, fieldNodes, isFlag(definition)),
      })
    }
    return assemble(desc, selected, first)
  }

  function assemble(
    desc: DescMessage,
    selected: readonly (Selected | { readonly head: string })[],
    first?: FieldShape,
  ): MessagePlan {
    const plan = createMessagePlan()
    const { fields } = shapes.message(desc)
    const rules = new Map<FieldShape, FieldRule>()
    if (first) place(first, singleRule(first, options))
    for (const part of selected) {
      const head = toLiteral(part.head)
      if (!('compiled' in part)) {
        plan.parts.push({ head, slot: -1, absent: undefined, write: () => {} })
        continue
      }
      const { field, compiled } = part
      const { slot } = rules.get(field) ?? place(field, compiled.rule)
      plan.parts.push({ head, slot, absent: compiled.absent, write: compiled.write })
    }
    for (const field of fields) {
      if (rules.has(field)) continue
      const rule = skipRules.rule(field)
      if (rule) {
        rules.set(field, rule)
        addRule(plan, rule)
      }
    }
    for (const field of fields) {
      const siblings = field.oneof?.fields.filter((other) => other !== field) ?? []
      const clears = siblings.flatMap((other) => {
        const rule = rules.get(other)
        return rule && rule.slot !== -1 ? [rule] : []
      })
      if (clears.length === 0) continue
      const own = rules.get(field)
      if (own) own.clears = clears
      else addRule(plan, { ...skipRules.anyContent(field), clears })
    }
    findSinglePass(plan)
    return plan

    function place(field: FieldShape, compiled: CompiledField['rule']): FieldRule {
      const rule = { ...compiled, slot: plan.slots, clears: [] }
      plan.slots += 2
      rules.set(field, rule)
      addRule(plan, rule)
      return rule
    }
  }

  const only: MessageCompiler['only'] = (desc, field, compiled) =>
    assemble(desc, [{ field, compiled, head: '' }])

  return {
    object,
    field: (desc, field, type, nodes) => only(desc, field, compileField(field, type, nodes, false)),
    only,
  }
}
