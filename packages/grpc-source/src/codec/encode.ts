import { isRecord } from '@vinyasa/core'
import type { DescMessage, ScalarType } from '@bufbuild/protobuf'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import type { FieldShape, MessageShape, ValueKind } from '../contract/shapes.ts'
import type { Codecs } from './leaf-reader.ts'
import { wrongValue } from './scalar-codecs.ts'

/** Turns GraphQL arguments into a message's bytes. @throws GraphQLError BAD_USER_INPUT that names the argument */
export type MessageEncoder = (value: Readonly<Record<string, unknown>>) => Uint8Array

type Write = (writer: BinaryWriter, value: unknown, path: string) => void

export function createEncoders(codecs: Codecs): (desc: DescMessage) => MessageEncoder {
  const compiler = new EncoderCompiler(codecs)
  return (desc) => {
    const write = compiler.compile(desc)
    return (value) => {
      const writer = new BinaryWriter()
      write(writer, value, '')
      return writer.finish()
    }
  }
}

class EncoderCompiler {
  private readonly codecs: Codecs
  private readonly compiled = new Map<DescMessage, Write>()

  constructor(codecs: Codecs) {
    this.codecs = codecs
  }

  compile(desc: DescMessage): Write {
    const known = this.compiled.get(desc)
    if (known) return known
    const shape = this.codecs.shapes.message(desc)
    const writes: { name: string; write: Write }[] = []
    const writeFields: Write = (writer, value, path) => {
      if (!isRecord(value)) {
        if (shape.fields.length > 0) throw wrongValue(path, 'an object', value)
        if (value === true) return
        throw wrongValue(path, `true (${desc.typeName} has no fields)`, value)
      }
      const source = shape.oneofs.length === 0 ? value : flattenOneofs(shape, value, path)
      for (const { name, write } of writes) {
        const item = ownValue(source, name)
        if (item !== undefined && item !== null) write(writer, item, path === '' ? name : `${path}.${name}`)
      }
    }
    this.compiled.set(desc, writeFields)
    for (const field of shape.fields) writes.push({ name: field.name, write: this.fieldWriter(field) })
    return writeFields
  }

  private fieldWriter(field: FieldShape): Write {
    const { number } = field.desc
    if (field.cardinality === 'map') return this.mapWriter(field, number)
    if (field.cardinality === 'list') return this.listWriter(field, number)
    const write = this.valueWriter(field.value, number)
    if (this.isEmpty(field.value) && !field.required) {
      // A message without fields is a Boolean in GraphQL: true sets it, false leaves it out, but one that must be there.
      return (writer, value, path) => {
        if (value !== false) write(writer, value, path)
      }
    }
    if (field.sendsZero || field.value.kind === 'message' || field.value.kind === 'wellKnown') return write
    const isZero = this.zeroTest(field.value)
    return (writer, value, path) => {
      if (!isZero(value)) write(writer, value, path)
    }
  }

  private isEmpty(value: ValueKind): boolean {
    return value.kind === 'message' && this.codecs.shapes.message(value.message).fields.length === 0
  }

  private zeroTest(value: ValueKind & { readonly kind: 'scalar' | 'enum' }): (item: unknown) => boolean {
    if (value.kind === 'scalar') return this.codecs.scalars(value.scalar).isZero
    const { numberOf } = this.codecs.shapes.enum(value.enum)
    return (item) => item === 0 || (typeof item === 'string' && numberOf.get(item) === 0)
  }

  private listWriter(field: FieldShape, number: number): Write {
    const packed = field.desc.fieldKind === 'list' && field.desc.packed
    const write = packed ? this.bareWriter(field.value) : this.valueWriter(field.value, number)
    return (writer, value, path) => {
      if (!Array.isArray(value)) throw wrongValue(path, 'a list', value)
      if (value.length === 0) return
      if (packed) writer.tag(number, WireType.LengthDelimited).fork()
      for (const [index, item] of value.entries()) {
        if (item === null || item === undefined)
          throw wrongValue(`${path}.${index}`, 'non-null (protobuf lists cannot contain null)', item)
        write(writer, item, `${path}.${index}`)
      }
      if (packed) writer.join()
    }
  }

  private mapWriter(field: FieldShape, number: number): Write {
    const key = this.codecs.scalars(field.key as ScalarType)
    const writeValue = this.valueWriter(field.value, 2)
    return (writer, value, path) => {
      for (const [entryKey, entryValue] of mapEntries(value, field.key as ScalarType, path)) {
        writer.tag(number, WireType.LengthDelimited).fork()
        key.write(writer.tag(1, key.wireType), entryKey, `${path}.key`)
        if (entryValue === null || entryValue === undefined)
          throw wrongValue(
            `${path}.${String(entryKey)}`,
            'non-null (protobuf maps cannot contain null)',
            entryValue,
          )
        writeValue(writer, entryValue, `${path}.${String(entryKey)}`)
        writer.join()
      }
    }
  }

  private valueWriter(value: ValueKind, number: number): Write {
    switch (value.kind) {
      case 'scalar': {
        const codec = this.codecs.scalars(value.scalar)
        return (writer, item, path) => codec.write(writer.tag(number, codec.wireType), item, path)
      }
      case 'enum': {
        const write = this.bareWriter(value)
        return (writer, item, path) => write(writer.tag(number, WireType.Varint), item, path)
      }
      case 'wellKnown': {
        const codec = this.codecs.wellKnown(value.type)
        if (value.group !== 0) {
          return (writer, item, path) =>
            void writer
              .tag(number, WireType.StartGroup)
              .raw(codec.encode(item, path))
              .tag(number, WireType.EndGroup)
        }
        return (writer, item, path) =>
          void writer.tag(number, WireType.LengthDelimited).bytes(codec.encode(item, path))
      }
      case 'message': {
        const { message, delimited } = value
        if (delimited) {
          return (writer, item, path) => {
            writer.tag(number, WireType.StartGroup)
            this.compile(message)(writer, item, path)
            writer.tag(number, WireType.EndGroup)
          }
        }
        return (writer, item, path) => {
          writer.tag(number, WireType.LengthDelimited).fork()
          this.compile(message)(writer, item, path)
          writer.join()
        }
      }
    }
  }

  /** Without a tag, for packed lists. */
  private bareWriter(value: ValueKind): Write {
    if (value.kind === 'scalar') return this.codecs.scalars(value.scalar).write
    if (value.kind !== 'enum') throw new Error('only repeated fields of scalars or enums can be packed')
    const { numberOf, desc } = this.codecs.shapes.enum(value.enum)
    return (writer, item, path) => {
      const number = typeof item === 'string' ? numberOf.get(item) : item
      if (typeof number !== 'number' || !Number.isInteger(number)) {
        throw wrongValue(path, `a value of ${desc.typeName}`, item)
      }
      writer.int32(number)
    }
  }
}

/** A oneof comes as one object with one key (GraphQL's `@oneOf`), or, from code, as its fields beside the others. */
function flattenOneofs(
  shape: MessageShape,
  value: Readonly<Record<string, unknown>>,
  path: string,
): Readonly<Record<string, unknown>> {
  const flat: Record<string, unknown> = { ...value }
  for (const oneof of shape.oneofs) {
    const wrapped = ownValue(value, oneof.name)
    if (isRecord(wrapped)) Object.assign(flat, wrapped)
    const set = oneof.fields.filter(({ name }) => (ownValue(flat, name) ?? null) !== null)
    if (set.length > 1) {
      const names = set.map(({ name }) => name).join(' and ')
      throw wrongValue(
        path === '' ? oneof.name : `${path}.${oneof.name}`,
        `only one of ${names}`,
        wrapped ?? names,
      )
    }
  }
  return flat
}

function mapEntries(value: unknown, key: ScalarType, path: string): Iterable<readonly [unknown, unknown]> {
  if (Array.isArray(value)) {
    return value.map((entry: unknown, index) => {
      if (!isRecord(entry)) throw wrongValue(`${path}.${index}`, 'an object with "key" and "value"', entry)
      return [entry['key'], entry['value']] as const
    })
  }
  if (!isRecord(value))
    throw wrongValue(path, 'a list of objects with "key" and "value", or a JSON object', value)
  return Object.entries(value).map(
    ([name, item]) => [key === BOOL && /^(true|false)$/.test(name) ? name === 'true' : name, item] as const,
  )
}

const BOOL = 8

/** A field may be called like something that every object inherits: `constructor`. */
function ownValue(record: Readonly<Record<string, unknown>>, name: string): unknown {
  return name in Object.prototype && !Object.hasOwn(record, name) ? undefined : record[name]
}
