import type { DescMessage, ScalarType } from '@bufbuild/protobuf'
import { keyed } from '@vinyasa/core'
import {
  FallBack,
  fieldsBelow,
  NotPlannable,
  ownIsTypeOf,
  ownNameOf,
  type SelectionScope,
  writtenType,
} from '@vinyasa/source-kit'
import {
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type FieldNode,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
} from 'graphql'
import type { LeafOptions } from '../codec/decode.ts'
import { wireTypeOf, type Codecs } from '../codec/leaf-reader.ts'
import type { FieldShape, ValueKind } from '../contract/shapes.ts'
import { isFlag } from '../mapping/flags.ts'
import {
  addRule,
  constantPart,
  createMessagePlan,
  MessagePlanBuilder,
  slotRule,
} from './build-message-plan.ts'
import { absentJson, leafToJson, leafWriter } from './leaf-writers.ts'
import { toLiteral } from './json-writer.ts'
import { Transcoder, type CompiledField, type MessagePlan, type WriteValue } from './transcoder.ts'
import { marks, plainField } from './planned-field.ts'
import { createSkipRules, type SkipRules } from './skip-rules.ts'

const EMPTY_LIST = Buffer.from('[]')
const NULL = Buffer.from('null')
const TRUE = Buffer.from('true')
const KEY_SLOT = 0
const VALUE_SLOT = 2

/** How a field is written, under any response name. A joined field is written in place of its key. */
export interface WrittenField {
  readonly field: FieldShape
  readonly compiled: CompiledField
}

/** Compiles a field of `parent` that a join resolves. It returns undefined for other fields. @throws NotPlannable */
export type CompileJoin = (
  parent: DescMessage,
  type: GraphQLObjectType,
  definition: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
  options: LeafOptions,
) => WrittenField | undefined

/** Compiles selections on messages to plans. */
export class MessageCompiler {
  readonly #scope: SelectionScope
  readonly #options: LeafOptions
  readonly #compileJoin: CompileJoin
  readonly #skipRules: SkipRules
  readonly #leaves: WeakMap<FieldShape, Leaf>

  constructor(scope: SelectionScope, options: LeafOptions, compileJoin: CompileJoin) {
    this.#scope = scope
    this.#options = options
    this.#compileJoin = compileJoin
    this.#skipRules = createSkipRules(options)
    this.#leaves = leavesOf(options)
  }

  /** A selection on a message. `first`: a field that is found too, and has the first slot. @throws NotPlannable */
  object(
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
    if (first) builder.place(first, singleRule(first, this.#options))
    for (const [key, fieldNodes] of fieldsBelow(this.#scope, type, nodes)) {
      const head = `${builder.plan.parts.length === 0 ? '' : ','}${JSON.stringify(key)}:`
      const name = fieldNodes[0]?.name.value as string
      if (name === '__typename') {
        builder.plan.parts.push(constantPart(`${head}${JSON.stringify(type.name)}`))
        continue
      }
      const { field, compiled } = this.#written(desc, type, name, fieldNodes)
      builder.addPart(toLiteral(head), field, compiled)
    }
    return builder.finish(this.#options.shapes.message(desc).fields, this.#skipRules)
  }

  /** One field of a message, in the message's place. @throws NotPlannable */
  field(
    desc: DescMessage,
    field: FieldShape,
    type: GraphQLOutputType,
    nodes: readonly FieldNode[],
  ): MessagePlan {
    return this.only(desc, field, this.#field(field, type, nodes))
  }

  /** The same, compiled in a way of its own. */
  only(desc: DescMessage, field: FieldShape, compiled: CompiledField): MessagePlan {
    const builder = new MessagePlanBuilder()
    builder.addPart(toLiteral(''), field, compiled)
    return builder.finish(this.#options.shapes.message(desc).fields, this.#skipRules)
  }

  #written(
    desc: DescMessage,
    type: GraphQLObjectType,
    name: string,
    nodes: readonly FieldNode[],
  ): WrittenField {
    const selected = type.getFields()[name]
    const joined = selected && this.#compileJoin(desc, type, selected, nodes, this.#options)
    if (joined) return joined
    const definition = plainField(type, name)
    const own = ownNameOf(definition)
    const field = this.#options.shapes
      .message(desc)
      .fields.find((candidate) => candidate.name === own && candidate.inOutput)
    if (!field || field.annotation.resolver)
      throw new NotPlannable(
        `the message ${desc.typeName} does not contain the value of ${type.name}.${name}`,
      )
    const written = writtenType(definition)
    return {
      field,
      compiled: isFlag(definition) ? this.#flag(field, written) : this.#field(field, written, nodes),
    }
  }

  #field(field: FieldShape, type: GraphQLOutputType, nodes: readonly FieldNode[]): CompiledField {
    if (field.cardinality === 'map') return this.#map(field, type, nodes)
    if (field.value.kind === 'message') return this.#values(field, type, nodes)
    let leaf = this.#leaves.get(field)
    if (leaf?.type !== type)
      this.#leaves.set(field, (leaf = { type, compiled: this.#values(field, type, nodes) }))
    return leaf.compiled
  }

  /** A field with one value, or a list of values. */
  #values(field: FieldShape, type: GraphQLOutputType, nodes: readonly FieldNode[]): CompiledField {
    const { value, hasPresence } = field
    const rule = singleRule(field, this.#options)
    const group = rule.wireType === 3 ? rule.number : 0
    if (field.cardinality === 'list') {
      const nullable = getNullableType(type)
      if (!isListType(nullable))
        throw new NotPlannable(
          `${field.desc.toString()} is repeated, but its GraphQL type ${String(nullable)} is not a list`,
        )
      const item = this.#writerOf(value, nullable.ofType as GraphQLOutputType, nodes, group)
      return listField(field, this.#options, item)
    }
    const isNull = hasPresence || value.kind === 'message' || value.kind === 'wellKnown'
    return {
      rule,
      absent: absentJson(isNull ? undefined : value, type, this.#options),
      write: this.#writerOf(value, type, nodes, group),
    }
  }

  /** Writes one value: a list's item, or what stands in the field itself. */
  #writerOf(
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
      const plan = this.object(value.message, nullable, nodes)
      return (transcoder) => transcoder.nestedObject(plan, group)
    }
    const write = leafWriter(value, nullable, isNonNullType(type), this.#options)
    if (!write)
      throw new NotPlannable(
        `the protobuf value is converted to a scalar or an enum, but its GraphQL type ${String(nullable)} is neither`,
      )
    return write
  }

  /** Compiles a message without fields, which is a Boolean in GraphQL. */
  #flag(field: FieldShape, type: GraphQLOutputType): CompiledField {
    const { number } = field.desc
    const check = this.#skipRules.check(field)
    if (field.value.kind !== 'message' || !check)
      throw new NotPlannable(
        `${field.desc.toString()} is a Boolean in GraphQL, but its protobuf type is not an empty message`,
      )
    const wireType = wireTypeOf(field.value, this.#options.scalars)
    if (field.cardinality === 'list')
      return listField(field, this.#options, (transcoder) => {
        check(transcoder, wireType)
        transcoder.json.raw(TRUE)
      })
    return {
      rule: { number, wireType, handling: 'once', isList: false, check },
      absent: isNonNullType(type) ? undefined : NULL,
      write: ({ json }) => json.raw(TRUE),
    }
  }

  /** Compiles a map. On the wire, a map is a list of messages with a key and a value. */
  #map(field: FieldShape, type: GraphQLOutputType, nodes: readonly FieldNode[]): CompiledField {
    const nullable = getNullableType(type)
    const { number } = field.desc
    const rule = { number, wireType: 2, handling: 'list', isList: false, check: undefined } as const
    if (isLeafType(nullable))
      return {
        rule,
        absent: Buffer.from(leafToJson({}, nullable) ?? 'null'),
        write: jsonWriter(field, nullable, this.#options),
      }
    const entry = isListType(nullable) ? getNullableType(nullable.ofType as GraphQLOutputType) : undefined
    if (!isObjectType(entry))
      throw new NotPlannable(
        `${field.desc.toString()} is a map, but its GraphQL type ${String(nullable)} is not a scalar or a list of objects`,
      )
    const plan = this.#entryPlan(field, entry, nodes)
    return { rule, absent: EMPTY_LIST, write: entriesWriter(field, plan, this.#options) }
  }

  /** Returns the plan of the `{ key value }` entries of a map. */
  #entryPlan(field: FieldShape, type: GraphQLObjectType, nodes: readonly FieldNode[]): MessagePlan {
    const { scalars } = this.#options
    const plan = createMessagePlan()
    plan.slots = 4
    let readsValue = false
    for (const [responseName, fieldNodes] of fieldsBelow(this.#scope, type, nodes)) {
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
      const write = this.#writerOf(value, partType, fieldNodes, 0)
      plan.parts.push({
        head: toLiteral(head),
        slot: own === 'key' ? KEY_SLOT : VALUE_SLOT,
        absent: value.kind === 'message' ? absentMessage(write) : absentJson(value, partType, this.#options),
        write,
      })
    }
    addRule(plan, slotRule(1, scalars(field.key as ScalarType).wireType, KEY_SLOT, undefined))
    const wireType = wireTypeOf(field.value, scalars)
    const check = readsValue ? undefined : this.#skipRules.check(field)
    addRule(plan, slotRule(2, wireType, readsValue ? VALUE_SLOT : -1, check))
    return plan
  }
}

/** A message that is left out of an entry is an empty one. */
function absentMessage(write: WriteValue): Uint8Array | undefined {
  const transcoder = new Transcoder()
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

interface Leaf {
  readonly type: GraphQLOutputType
  readonly compiled: CompiledField
}

/** Fields of which nothing more is selected are the same in all plans of a source. */
const leavesOf = keyed((_options: LeafOptions) => new WeakMap<FieldShape, Leaf>(), new WeakMap())

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
