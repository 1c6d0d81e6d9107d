import { NotPlannable, type SelectionScope } from '@vinyasa/source-kit'
import type { DescMessage } from '@bufbuild/protobuf'
import {
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
} from 'graphql'
import type { FieldShape, ValueKind } from '../contract/shapes.ts'
import { createMapCompiler } from './compile-map.ts'
import { leafWriter, zeroJson } from './leaf-writers.ts'
import type { MessagePlan, WriteValue } from './message-plan.ts'
import { wireTypeOf } from '../codec/wire-type.ts'
import { type SkipRules } from './skip-rules.ts'
import { type Codecs, type LeafOptions } from './reply-codecs.ts'
import { type CompiledField } from './message-plan.ts'

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
        throw new NotPlannable(`${value.message.typeName} is the type ${String(nullable)}`)
      const plan = compileObject(value.message, nullable, nodes)
      return (transcoder) => transcoder.nestedObject(plan, group)
    }
    const write = leafWriter(value, nullable, isNonNullType(type), options)
    if (!write) throw new NotPlannable(`${String(nullable)} is no scalar or enum`)
    return write
  }

  function flag(field: FieldShape, type: GraphQLOutputType): CompiledField {
    const { number } = field.desc
    const check = skipRules.check(field)
    if (field.value.kind !== 'message' || !check)
      throw new NotPlannable(`${field.desc.toString()} is no flag`)
    const wireType = wireTypeOf(field.value, options.scalars)
    if (field.cardinality === 'list') {
      return {
        rule: { number, wireType, handling: 'list', isList: true, check: undefined },
        absent: EMPTY_LIST,
        write: (transcoder, end) =>
          transcoder.items(number, wireType, end, () => {
            check(transcoder, wireType)
            transcoder.json.raw(TRUE)
          }),
      }
    }
    return {
      rule: { number, wireType, handling: 'once', isList: false, check },
      absent: isNonNullType(type) ? undefined : NULL,
      write: ({ json }) => json.raw(TRUE),
    }
  }

  function list(field: FieldShape, type: GraphQLOutputType, nodes: readonly FieldNode[]): CompiledField {
    const nullable = getNullableType(type)
    if (!isListType(nullable)) throw new NotPlannable(`${field.desc.toString()} is no list`)
    const { number } = field.desc
    const wireType = wireTypeOf(field.value, options.scalars)
    const item = writerOf(
      field.value,
      nullable.ofType as GraphQLOutputType,
      nodes,
      wireType === 3 ? number : 0,
    )
    return {
      rule: { number, wireType, handling: 'list', isList: true, check: undefined },
      absent: EMPTY_LIST,
      write: (transcoder, end) => transcoder.items(number, wireType, end, item),
    }
  }

  function single(field: FieldShape, type: GraphQLOutputType, nodes: readonly FieldNode[]): CompiledField {
    const rule = singleRule(field, options)
    return {
      rule,
      absent: absentJson(field, type),
      write: writerOf(field.value, type, nodes, rule.wireType === 3 ? rule.number : 0),
    }
  }

  function absentJson(field: FieldShape, type: GraphQLOutputType): Uint8Array | undefined {
    const { value } = field
    const isNull = field.hasPresence || value.kind === 'message' || value.kind === 'wellKnown'
    const nullable = getNullableType(type)
    const json = isNull || !isLeafType(nullable) ? undefined : zeroJson(value, nullable, options)
    if (json !== undefined) return Buffer.from(json)
    return isNonNullType(type) ? undefined : NULL
  }

  return (field, type, nodes, isFlag) => {
    if (isFlag) return flag(field, type)
    if (field.cardinality === 'map') return compileMap(field, type, nodes)
    return field.cardinality === 'list' ? list(field, type, nodes) : single(field, type, nodes)
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
