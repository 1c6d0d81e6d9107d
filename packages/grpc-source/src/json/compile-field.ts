import {
  NotPlannable,
  type SelectionScope,
  FallBack,
  fieldsBelow,
  ownNameOf,
  writtenType,
} from '@vinyasa/source-kit'
import type { DescMessage, ScalarType } from '@bufbuild/protobuf'
import {
  getNullableType,
  isListType,
  isNonNullType,
  isObjectType,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isLeafType,
  type GraphQLLeafType,
} from 'graphql'
import type { FieldShape, ValueKind } from '../contract/shapes.ts'
import { absentJson, leafWriter, leafToJson } from './leaf-writers.ts'
import type { CompiledField, MessagePlan, WriteValue } from './message-plan.ts'
import type { Codecs } from '../codec/leaf-reader.ts'
import { wireTypeOf } from '../codec/wire-type.ts'
import type { SkipRules } from './skip-rules.ts'
import type { LeafOptions } from './reply-codecs.ts'
import { plainField } from './plain-field.ts'
import { marks } from './planned-field.ts'
import { toLiteral } from './literal.ts'
import { ReplyTranscoder } from './transcoder.ts'
import { addRule, constantPart, createMessagePlan, slotRule } from './build-message-plan.ts'

const KEY_SLOT = 0
const VALUE_SLOT = 2

type WriterOf = (
  value: ValueKind,
  type: GraphQLOutputType,
  nodes: readonly FieldNode[],
  group: number,
) => WriteValue

/** Maps: on the wire, lists of messages with a key and a value. */
function createMapCompiler(
  scope: SelectionScope,
  options: LeafOptions,
  skipRules: SkipRules,
  writerOf: WriterOf,
): (field: FieldShape, type: GraphQLOutputType, nodes: readonly FieldNode[]) => CompiledField {
  const { scalars } = options

  /** Returns the plan of the `{ key value }` entries of a map. */
  function entryPlan(field: FieldShape, type: GraphQLObjectType, nodes: readonly FieldNode[]): MessagePlan {
    const plan = createMessagePlan()
    plan.slots = 4
    let readsValue = false
    for (const [responseName, fieldNodes] of fieldsBelow(scope, type, nodes)) {
      const name = fieldNodes[0]?.name.value as string
      const head = `${plan.parts.length === 0 ? '' : ','}${JSON.stringify(responseName)}:`
      if (name === '__typename') {
        plan.parts.push(constantPart(`${head}${JSON.stringify(type.name)}`))
        continue
      }
      const definition = plainField(type, name)
      const partType = writtenType(definition)
      const own = ownNameOf(definition)
      if (own === 'value' && marks.of(definition)) {
        // The value is an empty message, which is always set.
        plan.parts.push(constantPart(`${head}true`))
        continue
      }
      const value: ValueKind =
        own === 'key' ? { kind: 'scalar', scalar: field.key as ScalarType } : field.value
      readsValue ||= own === 'value'
      const write = writerOf(value, partType, fieldNodes, 0)
      plan.parts.push({
        head: toLiteral(head),
        slot: own === 'key' ? KEY_SLOT : VALUE_SLOT,
        absent: value.kind === 'message' ? absentMessage(write) : absentJson(value, partType, options),
        write,
      })
    }
    addRule(plan, slotRule(1, scalars(field.key as ScalarType).wireType, KEY_SLOT, undefined))
    const wireType = wireTypeOf(field.value, scalars)
    const check = readsValue ? undefined : skipRules.check(field)
    addRule(plan, slotRule(2, wireType, readsValue ? VALUE_SLOT : -1, check))
    return plan
  }

  return (field, type, nodes) => {
    const nullable = getNullableType(type)
    const { number } = field.desc
    const rule = { number, wireType: 2, handling: 'list', isList: false, check: undefined } as const
    if (isLeafType(nullable))
      return {
        rule,
        absent: Buffer.from(leafToJson({}, nullable) ?? 'null'),
        write: jsonWriter(field, nullable, options),
      }
    const entry = isListType(nullable) ? getNullableType(nullable.ofType as GraphQLOutputType) : undefined
    if (!isObjectType(entry))
      throw new NotPlannable(
        `${field.desc.toString()} is a map, but its GraphQL type ${String(nullable)} is not a scalar or a list of objects`,
      )
    return {
      rule,
      absent: Buffer.from('[]'),
      write: entriesWriter(field, entryPlan(field, entry, nodes), options),
    }
  }
}

/** A message that is left out of an entry is an empty one. */
function absentMessage(write: WriteValue): Uint8Array | undefined {
  const transcoder = new ReplyTranscoder()
  transcoder.begin(Buffer.of(0))
  try {
    write(transcoder, 0)
    return transcoder.gaps.length > 0 ? undefined : transcoder.json.take()
  } catch {
    return undefined
  }
}

/** Refuses a key that is there twice: the place of the first and the value of the last make the entry. */
function entriesWriter(field: FieldShape, plan: MessagePlan, { scalars }: LeafOptions): WriteValue {
  const key = scalars(field.key as ScalarType)
  return (transcoder, end) => {
    const seen = new Set<unknown>()
    transcoder.items(field.desc.number, 2, end, () => {
      const { reader } = transcoder
      const outer = reader.enter()
      transcoder.object(plan, 0, (place) => {
        if (place !== -1) reader.pos = place
        const value = place === -1 ? key.zero : key.read(reader)
        if (seen.has(value))
          throw new FallBack(`the response repeats a key of the map in ${field.desc.toString()}`)
        seen.add(value)
      })
      reader.leave(outer)
    })
  }
}

/** Returns the writer of a map as one JSON value, made as ordinary decoding makes it. */
function jsonWriter(field: FieldShape, type: GraphQLLeafType, { decoder }: LeafOptions): WriteValue {
  const decode = decoder(field.desc.parent)
  return (transcoder, end) => {
    const { reader, json } = transcoder
    const pieces: Uint8Array[] = []
    while (reader.pos < end) {
      const start = reader.pos
      const tag = reader.uint32()
      reader.skip(tag & 7, tag >>> 3)
      if (tag >>> 3 === field.desc.number) pieces.push(reader.buffer.subarray(start, reader.pos))
    }
    const message = decode(Buffer.concat(pieces)) as Readonly<Record<string, unknown>>
    json.text(leafToJson(message[field.name], type) ?? 'null')
  }
}

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
