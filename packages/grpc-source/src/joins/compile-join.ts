import { ScalarType } from '@bufbuild/protobuf'
import {
  asOwn,
  isJoinKey,
  FallBack,
  memberIn,
  NotPlannable,
  prepareJoin,
  type SelectionScope,
  serializedKey,
} from '@vinyasa/source-kit'
import {
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
} from 'graphql'
import { leafReader, leafZero } from '../codec/leaf-reader.ts'
import type { WireReader } from '../codec/wire-reader.ts'
import type { FieldShape, MessageShape } from '../contract/shapes.ts'
import { reasonOf } from '../errors.ts'
import {
  listField,
  MessageCompiler,
  singleRule,
  type CompileJoin,
  type WrittenField,
} from '../json/compile-message.ts'
import type { JoinPlace, PlannableJoin, Span, Transcoder, WriteValue } from '../json/transcoder.ts'
import { marks, plainField } from '../json/planned-field.ts'
import type { LeafOptions } from '../codec/decode.ts'

const NULL = Buffer.from('null')
const EMPTY_LIST = Buffer.from('[]')

/** The joins of one operation. */
export class JoinPlans {
  hasAny = false
  readonly #scope: SelectionScope

  constructor(scope: SelectionScope) {
    this.#scope = scope
  }

  /** @throws NotPlannable */
  place(
    definition: GraphQLField<unknown, unknown>,
    join: PlannableJoin,
    nodes: readonly FieldNode[],
  ): JoinPlace {
    this.hasAny = true
    const { items, output, codecs, transcoder, many } = join
    /** The items of the reply that is being read. */
    let byKey = new Map<string, Span[]>()
    const compiler = new MessageCompiler(this.#scope, codecs, this.compile)
    const item = itemWriter(compiler, join, definition, nodes, (key, span) => {
      const before = byKey.get(key)
      // The first item of a key is the one, or all are.
      if (!before) byKey.set(key, [span])
      else if (many) before.push(span)
    })
    const plan = compiler.only(output, items, listField(items, codecs, item))
    const place: JoinPlace = {
      join,
      missing: many ? EMPTY_LIST : isNonNullType(definition.type) ? undefined : NULL,
      itemsIn(bytes) {
        byKey = new Map()
        transcoder.begin(bytes)
        transcoder.field(plan)
        return { json: transcoder.json.take(), byKey }
      },
      // Fails where ordinary decoding fails, since others may share the call; whatever else goes wrong is only a reason.
      read(bytes) {
        try {
          return { bytes, items: new Map([[place, place.itemsIn(bytes)]]), reason: undefined }
        } catch (error) {
          codecs.decoder(output)(bytes)
          return { bytes, items: undefined, reason: reasonOf(error) }
        }
      },
    }
    return place
  }

  /** Compiles a field that a join of a gRPC source or of another source resolves. It is written in place of its key. */
  readonly compile: CompileJoin = (parent, type, definition, nodes, options) => {
    const shape = options.shapes.message(parent)
    const mark = marks.of(definition)
    if (mark?.kind === 'join') return this.#own(type, definition, mark.join, nodes, shape, options)
    const shared = prepareJoin({ key: definition.name, field: definition, nodes }, this.#scope)
    if (!shared) return undefined
    this.hasAny = true
    const key = textField(type, shared.parentKey, shape.fields)
    return inPlaceOf(key, options, ({ gaps, json }, value) => {
      gaps.push({ at: json.length, shared, key: isJoinKey(value) ? String(value) : null })
    })
  }

  #own(
    type: GraphQLObjectType,
    definition: GraphQLField<unknown, unknown>,
    join: PlannableJoin,
    nodes: readonly FieldNode[],
    { desc, fields }: MessageShape,
    options: LeafOptions,
  ): WrittenField {
    const leaf = getNullableType(asOwn(plainField(type, join.parentKey)).type)
    const own = memberIn(type, join.parentKey)
    const key = fields.find(({ name }) => name === own)
    if (!key || !isLeafType(leaf) || definition.args.length > 0)
      throw new NotPlannable(
        `the join ${type.name}.${definition.name} has arguments, or its key ${join.parentKey} is not a scalar field of ${desc.typeName}`,
      )
    const place = this.place(definition, join, nodes)
    return inPlaceOf(key, options, (writing, value) => {
      const given = serializedKey(leaf, value)
      if (given !== null) writing.gaps.push({ at: writing.json.length, place, key: String(given) })
      else if (place.missing) writing.json.raw(place.missing)
      else
        throw new FallBack(
          `the join ${type.name}.${definition.name} is non-nullable, but its key ${join.parentKey} is null or empty`,
        )
    })
  }
}

/** Gives where an item lies in the JSON to `found`, with its key. */
function itemWriter(
  compiler: MessageCompiler,
  join: PlannableJoin,
  definition: GraphQLField<unknown, unknown>,
  nodes: readonly FieldNode[],
  found: (key: string, span: Span) => void,
): WriteValue {
  const { items, itemKey, codecs } = join
  const nullable = getNullableType(definition.type)
  const type = isListType(nullable) ? getNullableType(nullable.ofType as typeof nullable) : nullable
  if (
    items.value.kind !== 'message' ||
    items.value.delimited ||
    isListType(nullable) !== join.many ||
    !isObjectType(type)
  )
    throw new NotPlannable(
      `the join ${definition.name} has the type ${String(definition.type)}; plans support only joins that return ${join.many ? 'a list of objects of one type' : 'an object of one type'}, whose items are messages without delimited encoding`,
    )
  const plan = compiler.object(items.value.message, type, nodes, itemKey)
  const { read: readKey, initial } = keyOf(itemKey, codecs)
  return (reading) => {
    const { reader, json } = reading
    const start = json.length
    const { objects } = reading
    let key: unknown = initial
    reading.gaps = []
    reading.nestedObject(plan, 0, (at) => {
      if (at === -1) return
      reader.pos = at
      key = readKey(reader)
    })
    const span = { start, end: json.length, gaps: reading.gaps, objects: reading.objects - objects }
    if (isJoinKey(key) && typeof key !== 'object') found(String(key), span)
  }
}

/** A field that is written with the value of its key. */
function inPlaceOf(
  key: FieldShape,
  options: LeafOptions,
  write: (writing: Transcoder, value: unknown) => void,
): WrittenField {
  const { read, initial } = keyOf(key, options)
  return {
    field: key,
    compiled: {
      rule: singleRule(key, options),
      absent: (writing) => write(writing, initial),
      write: (writing) => write(writing, read(writing.reader)),
    },
  }
}

/** A field that every kind of source sees as the same text. */
function textField(type: GraphQLObjectType, name: string, fields: readonly FieldShape[]): FieldShape {
  const leaf = getNullableType(plainField(type, name).type)
  const own = memberIn(type, name)
  const field = fields.find((candidate) => candidate.name === own && candidate.inOutput)
  const isText =
    field?.value.kind === 'scalar' &&
    field.value.scalar === ScalarType.STRING &&
    isLeafType(leaf) &&
    isSpecifiedScalarType(leaf) &&
    !field.annotation.resolver
  if (!field || !isText)
    throw new NotPlannable(`the join key ${type.name}.${name} must be a string field of the message`)
  return field
}

interface Key {
  /** Reads the key as ordinary decoding does. */
  readonly read: (reader: WireReader) => unknown
  /** The value when it is not in the message. */
  readonly initial: unknown
}

function keyOf(field: FieldShape, options: LeafOptions): Key {
  const { value } = field
  if (field.cardinality !== 'single' || value.kind === 'message')
    throw new NotPlannable(
      `${field.desc.toString()} cannot be the key of a join, because it is a list, a map or a message`,
    )
  const isNull = field.hasPresence || value.kind === 'wellKnown'
  return { read: leafReader(value, options), initial: isNull ? null : leafZero(value, options) }
}
