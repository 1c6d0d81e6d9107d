import type { ScalarType } from '@bufbuild/protobuf'
import {
  FallBack,
  fieldsBelow,
  NotPlannable,
  ownNameOf,
  type SelectionScope,
  writtenType,
} from '@vinyasa/source-kit'
import {
  getNullableType,
  isLeafType,
  isListType,
  isObjectType,
  type FieldNode,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
} from 'graphql'
import type { FieldShape, ValueKind } from '../contract/shapes.ts'
import { absentJson, leafToJson } from './leaf-writers.ts'
import type { CompiledField, MessagePlan, WriteValue } from './message-plan.ts'
import { plainField } from './plain-field.ts'
import { marks } from './planned-field.ts'
import { wireTypeOf } from '../codec/wire-type.ts'
import { type SkipRules } from './skip-rules.ts'
import { toLiteral } from './literal.ts'
import { ReplyTranscoder } from './transcoder.ts'
import { type LeafOptions } from './reply-codecs.ts'
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
export function createMapCompiler(
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
