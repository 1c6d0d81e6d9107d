import type { DescMessage } from '@bufbuild/protobuf'
import type { FieldNode, GraphQLObjectType, GraphQLOutputType } from 'graphql'
import type { FieldShape } from '../schema/shapes.ts'
import { collectFields, type SelectionScope } from './collect-fields.ts'
import { createFieldCompiler, type CompiledField } from './compile-field.ts'
import type { LeafOptions } from './leaf-writers.ts'
import { addRule, createMessagePlan, type FieldRule, type MessagePlan } from './message-plan.ts'
import { plainField } from './plain-field.ts'
import { markOf } from './planned-field.ts'
import { Unplannable } from './unplannable.ts'
import { createUnselected } from './unselected.ts'

export interface MessageCompiler {
  /** A selection on a message. @throws Unplannable */
  object(desc: DescMessage, type: GraphQLObjectType, nodes: readonly FieldNode[]): MessagePlan
  /** One field of a message, in the message's place. @throws Unplannable */
  field(
    desc: DescMessage,
    field: FieldShape,
    type: GraphQLOutputType,
    nodes: readonly FieldNode[],
  ): MessagePlan
}

/** One way to write a field, under one response name. */
interface Selected {
  readonly field: FieldShape
  readonly compiled: CompiledField
  readonly head: string
}

export function createMessageCompiler(scope: SelectionScope, options: LeafOptions): MessageCompiler {
  const { shapes } = options
  const unselected = createUnselected(options)
  const compileField = createFieldCompiler(scope, options, unselected, object)

  function object(desc: DescMessage, type: GraphQLObjectType, nodes: readonly FieldNode[]): MessagePlan {
    if (type.isTypeOf) throw new Unplannable(`the type ${type.name} has an isTypeOf`)
    const { fields } = shapes.message(desc)
    const plan = createMessagePlan()
    const selected: (Selected | { readonly head: string })[] = []
    for (const [key, fieldNodes] of selectionOf(scope, type, nodes)) {
      const head = `${selected.length === 0 ? '' : ','}${JSON.stringify(key)}:`
      const name = fieldNodes[0]?.name.value as string
      if (name === '__typename') {
        selected.push({ head: `${head}${JSON.stringify(type.name)}` })
        continue
      }
      const definition = plainField(type, name)
      const field = fields.find((candidate) => candidate.name === name && candidate.inOutput)
      if (!field || field.annotation.resolver)
        throw new Unplannable(`${type.name}.${name} is no field of ${desc.typeName}`)
      const isFlag = markOf(definition)?.kind === 'flag'
      selected.push({ field, head, compiled: compileField(field, definition.type, fieldNodes, isFlag) })
    }
    return assemble(plan, desc, selected)
  }

  function assemble(
    plan: MessagePlan,
    desc: DescMessage,
    selected: readonly (Selected | { readonly head: string })[],
  ): MessagePlan {
    const { fields } = shapes.message(desc)
    const rules = new Map<FieldShape, FieldRule>()
    for (const part of selected) {
      const head = Buffer.from(part.head)
      if (!('compiled' in part)) {
        plan.parts.push({ head, slot: -1, absent: undefined, write: () => {} })
        continue
      }
      const { field, compiled } = part
      let rule = rules.get(field)
      if (!rule) {
        rule = { ...compiled.rule, slot: plan.slots, clears: [] }
        plan.slots += 2
        rules.set(field, rule)
        addRule(plan, rule)
      }
      plan.parts.push({ head, slot: rule.slot, absent: compiled.absent, write: compiled.write })
    }
    for (const field of fields) {
      if (rules.has(field)) continue
      const rule = unselected.rule(field)
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
      else addRule(plan, { ...unselected.anyContent(field), clears })
    }
    return plan
  }

  return {
    object,
    field(desc, field, type, nodes) {
      const compiled = compileField(field, type, nodes, false)
      return assemble(createMessagePlan(), desc, [{ field, compiled, head: '' }])
    },
  }
}

function selectionOf(
  scope: SelectionScope,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): Map<string, FieldNode[]> {
  return collectFields(
    scope,
    type,
    nodes.flatMap(({ selectionSet }) => (selectionSet ? [selectionSet] : [])),
  )
}
