import type { DescMessage, ScalarType } from '@bufbuild/protobuf'
import type { FieldShape, ValueKind } from '../contract/shapes.ts'
import { leafReader, leafZero, wireTypeOf, type Codecs } from './leaf-reader.ts'
import { scalarCodecs } from './scalar-codecs.ts'
import { MalformedMessageError, WireReader } from './wire-reader.ts'

/** Turns a message's bytes into the object that GraphQL reads: its names, its nulls, its JSON types. */
export type MessageDecoder = (bytes: Uint8Array) => unknown

export interface DecoderOptions extends Codecs {
  /** Members of lists and maps that one message may have. Default 100 000. */
  readonly maxItems?: number | undefined
}

export interface LeafOptions extends Codecs {
  /** Ordinary decoding of whole messages. */
  readonly decoder: (desc: DescMessage) => MessageDecoder
}

type DecodedMessage = Record<string, unknown>

/** Reads one field, whose tag was read, into the message that it is of. */
type FieldDecoder = (reader: WireReader, target: DecodedMessage, wireType: number, depth: number) => void

/** How the messages of one type are read. */
interface CompiledMessage {
  /** The decoded form of an empty message; every message begins as a copy of it. */
  blank: DecodedMessage
  readonly fields: ReadonlyMap<number, FieldDecoder>
}

/** The same limit as other protobuf implementations; deeper messages are hostile. */
export const MAX_DEPTH = 100

interface MapEntry {
  readonly key: unknown
  value: unknown
}

type MessageKind = ValueKind & { readonly kind: 'message' }

type ValueReader = (reader: WireReader, depth: number) => unknown

const EMPTY: readonly unknown[] = Object.freeze([])

export function createDecoders(options: DecoderOptions): (desc: DescMessage) => MessageDecoder {
  const compiler = new DecoderCompiler(options)
  const { shapes, wellKnown, maxItems } = options
  return (desc) => {
    // A reply that is a well-known message has its GraphQL form too.
    const type = shapes.wellKnown(desc)
    if (type !== undefined) {
      const codec = wellKnown(type)
      return (bytes) => codec.decode(new WireReader(bytes, maxItems))
    }
    const message = compiler.compile(desc)
    return (bytes) => {
      const target = { ...message.blank }
      decodeFields(new WireReader(bytes, maxItems), message, target, 0)
      return target
    }
  }
}

class DecoderCompiler {
  private readonly options: DecoderOptions
  private readonly compiled = new Map<DescMessage, CompiledMessage>()
  /** The last entry of a key wins. */
  private readonly entriesByKey = new WeakMap<readonly MapEntry[], Map<unknown, MapEntry>>()

  constructor(options: DecoderOptions) {
    this.options = options
  }

  compile(desc: DescMessage): CompiledMessage {
    const known = this.compiled.get(desc)
    if (known) return known
    const blank: DecodedMessage = {}
    const fields = new Map<number, FieldDecoder>()
    const message: CompiledMessage = { blank, fields }
    this.compiled.set(desc, message)
    for (const field of this.options.shapes.message(desc).fields) {
      blank[field.name] = this.initialValue(field)
      fields.set(field.desc.number, this.fieldDecoder(field))
    }
    // Filled key by key, V8 keeps a wide object as a dictionary, which is ten times slower to copy than a copy of it.
    message.blank = { ...blank }
    return message
  }

  private initialValue(field: FieldShape): unknown {
    if (field.cardinality === 'list') return EMPTY
    if (field.cardinality === 'map') return this.options.shapes.options.maps === 'json' ? {} : EMPTY
    if (field.hasPresence || field.value.kind === 'message' || field.value.kind === 'wellKnown') return null
    return leafZero(field.value, this.options)
  }

  private fieldDecoder(field: FieldShape): FieldDecoder {
    if (field.cardinality === 'map') return this.mapDecoder(field)
    const { number } = field.desc
    const read = this.valueReader(field.value, number)
    const expected = wireTypeOf(field.value, this.options.scalars)
    const { name } = field
    if (field.cardinality === 'list') return listDecoder(name, expected, read, number)
    const others = (field.oneof?.fields ?? [])
      .filter((other) => other.name !== name)
      .map((other) => other.name)
    const nested = field.value.kind === 'message' ? field.value : undefined
    return (reader, target, wireType, depth) => {
      if (wireType !== expected) {
        reader.skip(wireType, number)
        return
      }
      // The last member of a oneof on the wire wins.
      for (const other of others) target[other] = null
      const before = nested && target[name]
      if (before) this.readMessage(reader, before as DecodedMessage, nested, depth, number)
      else target[name] = read(reader, depth)
    }
  }

  private mapDecoder(field: FieldShape): FieldDecoder {
    const asJson = this.options.shapes.options.maps === 'json'
    const readEntry = this.entryReader(field, asJson)
    const { name } = field
    return (reader, target, wireType, depth) => {
      if (wireType !== 2) {
        reader.skip(wireType, field.desc.number)
        return
      }
      reader.item()
      const entry = readEntry(reader, depth)
      if (!asJson) {
        if (target[name] === EMPTY) target[name] = []
        this.addEntry(target[name] as MapEntry[], entry)
        return
      }
      if (Object.hasOwn(target, name) && target[name] === this.compile(field.desc.parent).blank[name])
        target[name] = {}
      defineEntry(target[name] as DecodedMessage, String(entry.key), entry.value)
    }
  }

  private entryReader(field: FieldShape, asJson: boolean): (reader: WireReader, depth: number) => MapEntry {
    const { scalars } = this.options
    const keyCodec = (asJson ? scalarCodecs('string') : scalars)(field.key as ScalarType)
    const read = this.valueReader(field.value, 2)
    const valueWireType = wireTypeOf(field.value, scalars)
    return (reader, depth) => {
      let key = keyCodec.zero
      let value: unknown
      let hasValue = false
      const outer = reader.enter()
      while (reader.pos < reader.end) {
        const tag = reader.uint32()
        if (tag >>> 3 === 1 && (tag & 7) === keyCodec.wireType) key = keyCodec.read(reader)
        else if (tag >>> 3 === 2 && (tag & 7) === valueWireType) {
          value = read(reader, depth)
          hasValue = true
        } else reader.skip(tag & 7, tag >>> 3)
      }
      reader.leave(outer)
      return { key, value: hasValue ? value : this.zeroOf(field.value) }
    }
  }

  private addEntry(entries: MapEntry[], entry: MapEntry): void {
    let byKey = this.entriesByKey.get(entries)
    if (!byKey) this.entriesByKey.set(entries, (byKey = new Map()))
    const existing = byKey.get(entry.key)
    if (existing) {
      existing.value = entry.value
      return
    }
    byKey.set(entry.key, entry)
    entries.push(entry)
  }

  private zeroOf(value: ValueKind): unknown {
    return value.kind === 'message' ? { ...this.compile(value.message).blank } : leafZero(value, this.options)
  }

  private valueReader(value: ValueKind, fieldNumber: number): ValueReader {
    if (value.kind !== 'message') return leafReader(value, this.options)
    return (reader, depth) => {
      const target = { ...this.compile(value.message).blank }
      this.readMessage(reader, target, value, depth, fieldNumber)
      return target
    }
  }

  private readMessage(
    reader: WireReader,
    target: DecodedMessage,
    { message, delimited }: MessageKind,
    depth: number,
    fieldNumber: number,
  ): void {
    const nested = this.compile(message)
    if (depth >= MAX_DEPTH)
      throw new MalformedMessageError(`the response nests messages deeper than ${MAX_DEPTH} levels`)
    if (delimited) return decodeGroup(reader, nested, target, depth + 1, fieldNumber)
    const outer = reader.enter()
    decodeFields(reader, nested, target, depth + 1)
    reader.leave(outer)
  }
}

/** Reads the fields up to the reader's end. */
function decodeFields(
  reader: WireReader,
  { fields }: CompiledMessage,
  target: DecodedMessage,
  depth: number,
): void {
  while (reader.pos < reader.end) {
    const tag = reader.uint32()
    const decode = fields.get(tag >>> 3)
    if (decode) decode(reader, target, tag & 7, depth)
    else reader.skip(tag & 7, tag >>> 3)
  }
}

/** Reads a message that stands in another between two tags of its field. @throws MalformedMessageError */
function decodeGroup(
  reader: WireReader,
  message: CompiledMessage,
  target: DecodedMessage,
  depth: number,
  fieldNumber: number,
): void {
  for (;;) {
    const tag = reader.uint32()
    if ((tag & 7) === 4) {
      if (tag >>> 3 === fieldNumber) return
      throw new MalformedMessageError(
        'malformed protobuf message: an end-group tag does not match its start-group tag',
      )
    }
    const decode = message.fields.get(tag >>> 3)
    if (decode) decode(reader, target, tag & 7, depth)
    else reader.skip(tag & 7, tag >>> 3)
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

/** A key from the wire may be `__proto__`. */
function defineEntry(target: DecodedMessage, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}
