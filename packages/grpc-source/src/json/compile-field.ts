import { NotPlannable, type SelectionScope } from '@vinyasa/source-kit'
import type { DescMessage } from '@bufbuild/protobuf'
import {
  getNullableType,
  isListType,
  isNonNullType,
  isObjectType,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
} from 'graphql'
import type { FieldShape, ValueKind } from '../contract/shapes.ts'
import { createMapCompiler } from './compile-map.ts'
import { absentJson, leafWriter } from './leaf-writers.ts'
import type { CompiledField, MessagePlan, WriteValue } from './message-plan.ts'
import type { Codecs } from '../codec/leaf-reader.ts'
import { wireTypeOf } from '../codec/wire-type.ts'
import { type SkipRules } from './skip-rules.ts'
import { type LeafOptions } from './reply-codecs.ts'

const EMPTY_LIST = Buffer.from('[]')
const NULL = Buffer.from('null')
const TRUE = Buffer.from('true')

export type CompileObject = (
  desc: DescMessage,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
) => MessagePlan

/** `isFlag`: a message without fields, which is a Boolean in GraphQL: whether it is set. @throws NotPlannable */
export type CompileField = (
  field: FieldShape,
  type: GraphQLOutputType,
  nodes: readonly FieldNode[],
  isFlag: boolean,
) => CompiledField

export function createFieldCompiler(
  scope: SelectionScope,
  options: LeafOptions,
  skipRules: SkipRules,
  compileObject: CompileObject,
): CompileField {
  const compileMap = createMapCompiler(scope, options, skipRules, writerOf)

  /** Writes one value: a list's item, or what stands in the field itself. */
  function writerOf(
    value: ValueKind,
    type: GraphQLOutputType,
    nodes: readonly FieldNode[],
    group: number,
  ): WriteValue {
    const nullable = getNullableType(type)
    if (value.kind === 'message') {
      if (!isObjectType(nullable))
        throw new NotPlannable(
          `the message ${value.message.typeName} has the GraphQL type ${String(nullable)}, which is not an object type`,
        )
      const plan = compileObject(value.message, nullable, nodes)
      return (transcoder) => transcoder.nestedObject(plan, group)
    }
    const write = leafWriter(value, nullable, isNonNullType(type), options)
    if (!write)
      throw new NotPlannable(
        `the protobuf value is converted to a scalar or an enum, but its GraphQL type ${String(nullable)} is neither`,
      )
    return write
  }

  function flag(field: FieldShape, type: GraphQLOutputType): CompiledField {
    const { number } = field.desc
    const check = skipRules.check(field)
    if (field.value.kind !== 'message' || !check)
      throw new NotPlannable(
        `${field.desc.toString()} is a Boolean in GraphQL, but its protobuf type is not an empty message`,
      )
    const wireType = wireTypeOf(field.value, options.scalars)
    if (field.cardinality === 'list')
      return listField(field, options, (transcoder) => {
        check(transcoder, wireType)
        transcoder.json.raw(TRUE)
      })
    return {
      rule: { number, wireType, handling: 'once', isList: false, check },
      absent: isNonNullType(type) ? undefined : NULL,
      write: ({ json }) => json.raw(TRUE),
    }
  }

  function list(field: FieldShape, type: GraphQLOutputType, nodes: readonly FieldNode[]): CompiledField {
    const nullable = getNullableType(type)
    if (!isListType(nullable))
      throw new NotPlannable(
        `${field.desc.toString()} is repeated, but its GraphQL type ${String(nullable)} is not a list`,
      )
    const group = wireTypeOf(field.value, options.scalars) === 3 ? field.desc.number : 0
    const item = writerOf(field.value, nullable.ofType as GraphQLOutputType, nodes, group)
    return listField(field, options, item)
  }

  function single(field: FieldShape, type: GraphQLOutputType, nodes: readonly FieldNode[]): CompiledField {
    const rule = singleRule(field, options)
    const { value, hasPresence } = field
    const isNull = hasPresence || value.kind === 'message' || value.kind === 'wellKnown'
    return {
      rule,
      absent: absentJson(isNull ? undefined : value, type, options),
      write: writerOf(value, type, nodes, rule.wireType === 3 ? rule.number : 0),
    }
  }

  function compile(field: FieldShape, type: GraphQLOutputType, nodes: readonly FieldNode[]): CompiledField {
    if (field.cardinality === 'map') return compileMap(field, type, nodes)
    return field.cardinality === 'list' ? list(field, type, nodes) : single(field, type, nodes)
  }

  const leaves = leavesOf(options)
  return (field, type, nodes, isFlag) => {
    if (isFlag) return flag(field, type)
    if (field.value.kind === 'message' || field.cardinality === 'map') return compile(field, type, nodes)
    let leaf = leaves.get(field)
    if (leaf?.type !== type) leaves.set(field, (leaf = { type, compiled: compile(field, type, nodes) }))
    return leaf.compiled
  }
}

interface Leaf {
  readonly type: GraphQLOutputType
  readonly compiled: CompiledField
}

/** Fields of which nothing more is selected are the same in all plans of a source. */
const leaves = new WeakMap<LeafOptions, WeakMap<FieldShape, Leaf>>()

function leavesOf(options: LeafOptions): WeakMap<FieldShape, Leaf> {
  let known = leaves.get(options)
  if (!known) leaves.set(options, (known = new WeakMap()))
  return known
}

/** A repeated field whose items are written one by one. */
export function listField({ desc, value }: FieldShape, { scalars }: Codecs, item: WriteValue): CompiledField {
  const { number } = desc
  const wireType = wireTypeOf(value, scalars)
  return {
    rule: { number, wireType, handling: 'list', isList: true, check: undefined },
    absent: EMPTY_LIST,
    write: (transcoder, end) => transcoder.items(number, wireType, end, item),
  }
}

/** How a field with one value is found. */
export function singleRule({ desc, value }: FieldShape, { scalars }: Codecs): CompiledField['rule'] {
  const isWhole = value.kind === 'message' || value.kind === 'wellKnown'
  return {
    number: desc.number,
    wireType: wireTypeOf(value, scalars),
    handling: isWhole ? 'once' : 'last',
    isList: false,
    check: undefined,
  }
}
