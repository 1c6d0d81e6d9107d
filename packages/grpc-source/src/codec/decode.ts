import type { DescMessage, ScalarType } from '@bufbuild/protobuf'
import type { FieldShape, Shapes, ValueKind } from '../contract/shapes.ts'
import { isWellKnown, type WellKnownType } from '../contract/well-known.ts'
import { noteMembers } from './note-members.ts'
import { MalformedMessageError, WireReader } from './wire-reader.ts'
import { scalarCodecs, type ScalarCodec } from './scalar-codecs.ts'
import type { WellKnownCodec } from './well-known-codecs.ts'

export type DecodedMessage = Record<string, unknown>

/** Turns a message's bytes into the object that GraphQL reads: its names, its nulls, its JSON types. */
export type MessageDecoder = (bytes: Uint8Array) => unknown

export interface DecoderOptions {
  readonly shapes: Shapes
  readonly scalars: (scalar: ScalarType) => ScalarCodec
  readonly wellKnown: (type: WellKnownType) => WellKnownCodec
  /** Told of an enum number that the protos do not name; the value reads as null. */
  readonly onUnknownEnum: (enumName: string, number: number) => void
  /** Members of lists and maps that one message may have. Default 100 000. */
  readonly maxItems?: number | undefined
}

type FieldDecoder = (reader: WireReader, target: DecodedMessage, wireType: number, depth: number) => void

interface CompiledMessage {
  /** What an empty message decodes to; every message begins as a copy of it. */
  blank: DecodedMessage
  readonly fields: ReadonlyMap<number, FieldDecoder>
}

interface MapEntry {
  readonly key: unknown
  value: unknown
}

type ValueReader = (reader: WireReader, depth: number) => unknown

/** The same limit as other protobuf implementations; deeper messages are hostile. */
const MAX_DEPTH = 100
const EMPTY: readonly unknown[] = Object.freeze([])

export function createDecoders(options: DecoderOptions): (desc: DescMessage) => MessageDecoder {
  const { shapes, scalars, wellKnown, onUnknownEnum, maxItems } = options
  const compiled = new Map<DescMessage, CompiledMessage>()
  /** The last entry of a key wins. */
  const entriesByKey = new WeakMap<readonly MapEntry[], Map<unknown, MapEntry>>()

  function compile(desc: DescMessage): CompiledMessage {
    const known = compiled.get(desc)
    if (known) return known
    const blank: DecodedMessage = {}
    const fields = new Map<number, FieldDecoder>()
    const message: CompiledMessage = { blank, fields }
    compiled.set(desc, message)
    for (const field of shapes.message(desc).fields) {
      blank[field.name] = initialValue(field)
      fields.set(field.desc.number, fieldDecoder(field))
    }
    // Filled key by key, V8 keeps a wide object as a dictionary, which is ten times slower to copy than a copy of it.
    message.blank = { ...blank }
    return message
  }

  function initialValue(field: FieldShape): unknown {
    if (field.cardinality === 'list') return EMPTY
    if (field.cardinality === 'map') return shapes.options.maps === 'json' ? {} : EMPTY
    if (field.hasPresence || field.value.kind === 'message' || field.value.kind === 'wellKnown') return null
    if (field.value.kind === 'scalar') return scalars(field.value.scalar).zero
    return shapes.enum(field.value.enum).nameOf.get(0) ?? null
  }

  function fieldDecoder(field: FieldShape): FieldDecoder {
    if (field.cardinality === 'map') return mapDecoder(field)
    const read = valueReader(field.value, field.desc.number)
    const expected = wireTypeOf(field.value)
    const { name } = field
    if (field.cardinality === 'list') return listDecoder(name, expected, read, field.desc.number)
    const others = (field.oneof?.fields ?? [])
      .filter((other) => other.name !== name)
      .map((other) => other.name)
    const nested = field.value.kind === 'message' ? field.value.message : undefined
    return (reader, target, wireType, depth) => {
      if (wireType !== expected) {
        reader.skip(wireType, field.desc.number)
        return
      }
      // The last member of a oneof on the wire wins.
      for (const other of others) target[other] = null
      const before = nested && target[name]
      if (before) mergeMessage(reader, before as DecodedMessage, field.value, depth)
      else target[name] = read(reader, depth)
    }
  }

  function listDecoder(name: string, expected: number, read: ValueReader, fieldNumber: number): FieldDecoder {
    return (reader, target, wireType, depth) => {
      let list = target[name] as unknown[]
      if (list === EMPTY) target[name] = list = []
      if (wireType === expected) {
        reader.item()
        list.push(read(reader, depth))
      } else if (wireType === 2) {
        const outer = reader.enter()
        while (reader.pos < reader.end) {
          reader.item()
          list.push(read(reader, depth))
        }
        reader.leave(outer)
      } else {
        reader.skip(wireType, fieldNumber)
      }
    }
  }

  function mapDecoder(field: FieldShape): FieldDecoder {
    const asJson = shapes.options.maps === 'json'
    const keyCodec = (asJson ? scalarCodecs('string') : scalars)(field.key as ScalarType)
    const read = valueReader(field.value, 2)
    const valueWireType = wireTypeOf(field.value)
    const { value } = field
    const { name } = field
    return (reader, target, wireType, depth) => {
      if (wireType !== 2) {
        reader.skip(wireType, field.desc.number)
        return
      }
      reader.item()
      let entryKey = keyCodec.zero
      let entryValue: unknown
      let hasValue = false
      const outer = reader.enter()
      while (reader.pos < reader.end) {
        const tag = reader.uint32()
        if (tag >>> 3 === 1 && (tag & 7) === keyCodec.wireType) entryKey = keyCodec.read(reader)
        else if (tag >>> 3 === 2 && (tag & 7) === valueWireType) {
          entryValue = read(reader, depth)
          hasValue = true
        } else reader.skip(tag & 7, tag >>> 3)
      }
      reader.leave(outer)
      if (!hasValue) entryValue = zeroOf(value)
      if (asJson) {
        if (Object.hasOwn(target, name) && target[name] === compile(field.desc.parent).blank[name])
          target[name] = {}
        defineEntry(target[name] as DecodedMessage, String(entryKey), entryValue)
        return
      }
      let entries = target[name] as MapEntry[]
      if ((entries as readonly unknown[]) === EMPTY) target[name] = entries = []
      let byKey = entriesByKey.get(entries)
      if (!byKey) entriesByKey.set(entries, (byKey = new Map()))
      const existing = byKey.get(entryKey)
      if (existing) {
        existing.value = entryValue
        return
      }
      const entry = { key: entryKey, value: entryValue }
      byKey.set(entryKey, entry)
      entries.push(entry)
    }
  }

  function zeroOf(value: ValueKind): unknown {
    if (value.kind === 'scalar') return scalars(value.scalar).zero
    if (value.kind === 'enum') return shapes.enum(value.enum).nameOf.get(0) ?? null
    if (value.kind === 'wellKnown') return wellKnown(value.type).decode(new Uint8Array())
    return { ...compile(value.message).blank }
  }

  function valueReader(value: ValueKind, fieldNumber: number): ValueReader {
    switch (value.kind) {
      case 'scalar': {
        const codec = scalars(value.scalar)
        return codec.read
      }
      case 'enum': {
        const { nameOf, desc } = shapes.enum(value.enum)
        const declared = new Set(desc.values.map(({ number }) => number))
        return (reader) => {
          const number = reader.int32()
          const name = nameOf.get(number)
          if (name !== undefined) return name
          if (!declared.has(number)) onUnknownEnum(desc.typeName, number)
          return null
        }
      }
      case 'wellKnown': {
        const codec = wellKnown(value.type)
        return (reader) => {
          const bytes = reader.bytes()
          noteMembers(reader, bytes, value.type)
          return codec.decode(bytes)
        }
      }
      case 'message': {
        const { message, delimited } = value
        return (reader, depth) => {
          const nested = compile(message)
          const target = { ...nested.blank }
          if (delimited) decodeGroup(reader, nested, target, depth + 1, fieldNumber)
          else decodeNested(reader, nested, target, depth + 1)
          return target
        }
      }
    }
  }

  function mergeMessage(reader: WireReader, target: DecodedMessage, value: ValueKind, depth: number): void {
    if (value.kind !== 'message') return
    const nested = compile(value.message)
    if (value.delimited) decodeGroup(reader, nested, target, depth + 1, -1)
    else decodeNested(reader, nested, target, depth + 1)
  }

  function decodeNested(
    reader: WireReader,
    nested: CompiledMessage,
    target: DecodedMessage,
    depth: number,
  ): void {
    if (depth > MAX_DEPTH) throw new MalformedMessageError(`messages are nested deeper than ${MAX_DEPTH}`)
    const outer = reader.enter()
    decodeFields(reader, nested, target, depth)
    reader.leave(outer)
  }

  function decodeFields(
    reader: WireReader,
    message: CompiledMessage,
    target: DecodedMessage,
    depth: number,
  ): void {
    const { fields } = message
    while (reader.pos < reader.end) {
      const tag = reader.uint32()
      const decode = fields.get(tag >>> 3)
      if (decode) decode(reader, target, tag & 7, depth)
      else reader.skip(tag & 7, tag >>> 3)
    }
  }

  function decodeGroup(
    reader: WireReader,
    message: CompiledMessage,
    target: DecodedMessage,
    depth: number,
    fieldNumber: number,
  ): void {
    if (depth > MAX_DEPTH) throw new MalformedMessageError(`messages are nested deeper than ${MAX_DEPTH}`)
    for (;;) {
      const tag = reader.uint32()
      if ((tag & 7) === 4) {
        if (fieldNumber === -1 || tag >>> 3 === fieldNumber) return
        throw new MalformedMessageError('malformed protobuf message: a group ends that did not begin')
      }
      const decode = message.fields.get(tag >>> 3)
      if (decode) decode(reader, target, tag & 7, depth)
      else reader.skip(tag & 7, tag >>> 3)
    }
  }

  return (desc) => {
    // A reply that is a well-known message has its GraphQL form too.
    const { typeName } = desc
    if (isWellKnown(typeName)) {
      const codec = wellKnown(typeName)
      return (bytes) => {
        noteMembers(new WireReader(bytes, maxItems), bytes, typeName)
        return codec.decode(bytes)
      }
    }
    const message = compile(desc)
    return (bytes) => {
      const target = { ...message.blank }
      decodeFields(new WireReader(bytes, maxItems), message, target, 0)
      return target
    }
  }

  function wireTypeOf(value: ValueKind): number {
    if (value.kind === 'scalar') return scalars(value.scalar).wireType
    if (value.kind === 'enum') return 0
    return value.kind === 'message' && value.delimited ? 3 : 2
  }
}

/** A key from the wire may be `__proto__`. */
function defineEntry(target: DecodedMessage, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}
