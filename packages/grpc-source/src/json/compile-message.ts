import type { DescMessage } from '@bufbuild/protobuf'
import {
  fieldsBelow,
  NotPlannable,
  ownIsTypeOf,
  ownNameOf,
  type SelectionScope,
  writtenType,
} from '@vinyasa/source-kit'
import type { FieldNode, GraphQLObjectType, GraphQLOutputType } from 'graphql'
import type { FieldShape } from '../contract/shapes.ts'
import { createFieldCompiler, singleRule } from './compile-field.ts'
import { plainField } from './plain-field.ts'
import { isFlag } from '../mapping/flags.ts'
import { marks } from './planned-field.ts'
import { createSkipRules } from './skip-rules.ts'
import { toLiteral } from './literal.ts'
import type { CompiledField, MessagePlan } from './message-plan.ts'
import type { JoinPlans, WrittenField } from './join-plans.ts'
import { type LeafOptions } from './reply-codecs.ts'
import { constantPart, MessagePlanBuilder } from './build-message-plan.ts'

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
    if (ownIsTypeOf(type))
      throw new NotPlannable(
        `the type ${type.name} has an isTypeOf function, so graphql-js must execute the operation`,
      )
    const builder = new MessagePlanBuilder()
    if (first) builder.place(first, singleRule(first, options))
    for (const [key, fieldNodes] of fieldsBelow(scope, type, nodes)) {
      const head = `${builder.plan.parts.length === 0 ? '' : ','}${JSON.stringify(key)}:`
      const name = fieldNodes[0]?.name.value as string
      if (name === '__typename') {
        builder.plan.parts.push(constantPart(`${head}${JSON.stringify(type.name)}`))
        continue
      }
      const { field, compiled } = written(desc, type, name, fieldNodes)
      builder.addPart(toLiteral(head), field, compiled)
    }
    return builder.finish(shapes.message(desc).fields, skipRules)
  }

  function written(
    desc: DescMessage,
    type: GraphQLObjectType,
    name: string,
    nodes: readonly FieldNode[],
  ): WrittenField {
    const joined = type.getFields()[name]
    const mark = joined && marks.of(joined)
    if (joined && mark?.kind === 'join')
      return joins.field(scope, desc, type, joined, mark.join, nodes, options)
    const shared = joined && joins.shared(scope, desc, type, joined, nodes, options)
    if (shared) return shared
    const definition = plainField(type, name)
    const own = ownNameOf(definition)
    const field = shapes
      .message(desc)
      .fields.find((candidate) => candidate.name === own && candidate.inOutput)
    if (!field || field.annotation.resolver)
      throw new NotPlannable(
        `the message ${desc.typeName} does not contain the value of ${type.name}.${name}`,
      )
    return { field, compiled: compileField(field, writtenType(definition), nodes, isFlag(definition)) }
  }

  function only(desc: DescMessage, field: FieldShape, compiled: CompiledField): MessagePlan {
    const builder = new MessagePlanBuilder()
    builder.addPart(toLiteral(''), field, compiled)
    return builder.finish(shapes.message(desc).fields, skipRules)
  }

  return {
    object,
    field: (desc, field, type, nodes) => only(desc, field, compileField(field, type, nodes, false)),
    only,
  }
}
