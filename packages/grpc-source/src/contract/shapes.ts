import type {
  DescEnum,
  DescEnumValue,
  DescField,
  DescMessage,
  DescOneof,
  ScalarType,
} from '@bufbuild/protobuf'
import { keyed } from '@vinyasa/core'
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt'
import { protoCamelCase } from '@bufbuild/protobuf/reflect'
import type { Annotations, FieldAnnotation } from './annotations.ts'
import type { Finding } from '../errors.ts'
import type { MappingOptions } from '../options.ts'
import { enumPrefix, toGraphQLName } from './graphql-names.ts'
import { isWellKnown, type WellKnownType } from './well-known.ts'

/** The kind of one value of a field: of the element of a list, of the value of a map entry. */
export type ValueKind =
  | { readonly kind: 'scalar'; readonly scalar: ScalarType }
  | { readonly kind: 'enum'; readonly enum: DescEnum }
  | { readonly kind: 'message'; readonly message: DescMessage; readonly delimited: boolean }
  | {
      readonly kind: 'wellKnown'
      readonly type: WellKnownType
      /** The number of the field that its value stands between the tags of, as a group does; 0: behind its length. */
      readonly group: number
    }

/** The kind of a value that GraphQL has as a scalar or enum. */
export type LeafKind = Exclude<ValueKind, { readonly kind: 'message' }>

/** How one protobuf field appears in GraphQL; decoding, encoding and types all follow it. */
export interface FieldShape {
  readonly desc: DescField
  /** The GraphQL name, and the key of decoded objects. */
  readonly name: string
  readonly cardinality: 'single' | 'list' | 'map'
  readonly value: ValueKind
  readonly key: ScalarType | undefined
  readonly required: boolean
  /** Unset is told apart from the zero value, and reads as null. */
  readonly hasPresence: boolean
  /** The zero value is sent: every field that tells unset from zero, and every required one. */
  readonly sendsZero: boolean
  readonly oneof: OneofShape | undefined
  readonly inOutput: boolean
  readonly inInput: boolean
  readonly annotation: FieldAnnotation
}

export interface OneofShape {
  readonly desc: DescOneof
  readonly name: string
  readonly required: boolean
  readonly fields: FieldShape[]
}

export interface MessageShape {
  readonly desc: DescMessage
  readonly fields: readonly FieldShape[]
  readonly oneofs: readonly OneofShape[]
}

export interface EnumShape {
  readonly desc: DescEnum
  /** The values by their GraphQL names, aliases too. */
  readonly values: ReadonlyMap<string, DescEnumValue>
  /** GraphQL name by number: the first of several; hidden and unknown numbers are missing. */
  readonly nameOf: ReadonlyMap<number, string>
  /** Number by GraphQL name and by proto name. */
  readonly numberOf: ReadonlyMap<string, number>
}

export interface Shapes {
  /** Returns which message with a form of its own it is; undefined: none, or `typeNames` names it, as an object has a name. */
  wellKnown(desc: DescMessage): WellKnownType | undefined
  message(desc: DescMessage): MessageShape
  enum(desc: DescEnum): EnumShape
  readonly options: MappingOptions
}

export function createShapes(annotations: Annotations, options: MappingOptions, findings: Finding[]): Shapes {
  function toMessageShape(desc: DescMessage): MessageShape {
    const oneofs = desc.oneofs.map((oneof) => ({
      desc: oneof,
      name: fieldName(oneof.name, protoCamelCase(oneof.name)),
      required: annotations.validatedRequired(oneof),
      fields: [] as FieldShape[],
    }))
    const fields = desc.fields.map((field) => {
      const oneof = oneofs.find((candidate) => candidate.desc === field.oneof)
      const shape = toFieldShape(field, oneof)
      oneof?.fields.push(shape)
      return shape
    })
    findings.push(...duplicatesIn(desc, fields))
    giveWay(fields, oneofs)
    return { desc, fields, oneofs }
  }

  function toFieldShape(desc: DescField, oneof: OneofShape | undefined): FieldShape {
    const annotation = {
      ...annotations.field(desc),
      ...options.fields[`${desc.parent.typeName}.${desc.name}`],
    }
    const behavior = annotations.behavior(desc)
    const omit = annotation.omit === true
    const isResolved = annotation.resolver !== undefined && annotation.resolver !== ''
    return {
      desc,
      name: annotation.name ? toGraphQLName(annotation.name) : fieldName(desc.name, desc.jsonName),
      cardinality: desc.fieldKind === 'list' || desc.fieldKind === 'map' ? desc.fieldKind : 'single',
      value: toValueKind(desc, wellKnown),
      key: desc.fieldKind === 'map' ? desc.mapKey : undefined,
      required:
        annotation.required ??
        (desc.presence === FeatureSet_FieldPresence.LEGACY_REQUIRED ||
          behavior.includes('REQUIRED') ||
          annotations.validatedRequired(desc)),
      hasPresence: desc.presence === FeatureSet_FieldPresence.EXPLICIT,
      sendsZero: desc.presence !== FeatureSet_FieldPresence.IMPLICIT,
      oneof,
      inOutput: !omit && !behavior.includes('INPUT_ONLY'),
      inInput: !omit && !isResolved && !behavior.includes('OUTPUT_ONLY'),
      annotation,
    }
  }

  function fieldName(protoName: string, jsonName: string): string {
    return toGraphQLName(options.fieldNames === 'proto' ? protoName : jsonName)
  }

  function wellKnown({ typeName }: DescMessage): WellKnownType | undefined {
    return isWellKnown(typeName) && !Object.hasOwn(options.typeNames, typeName) ? typeName : undefined
  }

  return {
    options,
    wellKnown,
    message: keyed(toMessageShape),
    enum: keyed((desc: DescEnum) => toEnumShape(desc, options)),
  }
}

/** The name of a oneof is an input's alone, or a union's: it gives way to a field beside the oneof, or a oneof before it. */
function giveWay(
  fields: readonly FieldShape[],
  oneofs: readonly { name: string; readonly desc: DescOneof }[],
): void {
  const taken = new Set<string>()
  for (const oneof of oneofs) {
    const isTaken = (name: string): boolean =>
      taken.has(name) || fields.some((field) => field.name === name && field.desc.oneof !== oneof.desc)
    while (isTaken(oneof.name)) oneof.name += 'Oneof'
    taken.add(oneof.name)
  }
}

function duplicatesIn({ typeName, file }: DescMessage, fields: readonly FieldShape[]): Finding[] {
  const firstByName = new Map(fields.toReversed().map((field) => [field.name, field]))
  return fields.flatMap(({ name, desc }): Finding[] => {
    const first = firstByName.get(name)?.desc
    if (!first || first === desc) return []
    const message = `the fields ${first.name} and ${desc.name} are both called "${name}" in GraphQL; rename one of them with (graphql.field).name in the proto, or with fields: { '${typeName}.${desc.name}': { name: … } }`
    return [{ file: file.proto.name, element: typeName, message }]
  })
}

function toEnumShape(desc: DescEnum, options: MappingOptions): EnumShape {
  const prefix = enumPrefix(desc.name)
  const strip =
    options.stripEnumPrefix &&
    desc.values.every(({ name }) => /^[_A-Za-z]/.test(name.slice(prefix.length)) && name.startsWith(prefix))
  const values = new Map<string, DescEnumValue>()
  const nameOf = new Map<number, string>()
  const numberOf = new Map<string, number>()
  for (const value of desc.values) {
    const { name, number } = value
    const graphqlName = toEnumValueName(strip ? name.slice(prefix.length) : name)
    numberOf.set(name, number)
    if (options.hideUnspecified && number === 0 && /(^|_)UNSPECIFIED$/.test(name)) continue
    numberOf.set(graphqlName, number)
    if (!values.has(graphqlName)) values.set(graphqlName, value)
    if (!nameOf.has(number)) nameOf.set(number, graphqlName)
  }
  return { desc, values, nameOf, numberOf }
}

function toValueKind(desc: DescField, wellKnown: Shapes['wellKnown']): ValueKind {
  if (desc.message) {
    const type = wellKnown(desc.message)
    const delimited = desc.fieldKind !== 'map' && desc.delimitedEncoding
    if (type !== undefined) return { kind: 'wellKnown', type, group: delimited ? desc.number : 0 }
    return { kind: 'message', message: desc.message, delimited }
  }
  if (desc.enum) return { kind: 'enum', enum: desc.enum }
  return { kind: 'scalar', scalar: desc.scalar as ScalarType }
}

/** `true`, `false` and `null` cannot be enum values in GraphQL. */
function toEnumValueName(name: string): string {
  const legal = toGraphQLName(name)
  return ['true', 'false', 'null'].includes(legal) ? `${legal}_` : legal
}
