import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  type DescriptorProto,
  type EnumDescriptorProto,
  type FieldDescriptorProto,
} from '@bufbuild/protobuf/wkt'
import type { WrittenOption } from '../text/option-text.ts'
import { parseInteger } from '../text/token-reader.ts'
import type { RuleContext } from './message-rules.ts'
import type { ProtoSymbol, Symbols } from './symbols.ts'

const { REPEATED } = FieldDescriptorProto_Label
const { STRING, BYTES, MESSAGE, GROUP, ENUM, BOOL, FLOAT, DOUBLE } = FieldDescriptorProto_Type

const INTEGERS: ReadonlyMap<FieldDescriptorProto_Type, readonly [min: bigint, max: bigint]> = new Map([
  ...(['INT32', 'SINT32', 'SFIXED32'] as const).map((name) => of(name, -(2n ** 31n), 2n ** 31n - 1n)),
  ...(['INT64', 'SINT64', 'SFIXED64'] as const).map((name) => of(name, -(2n ** 63n), 2n ** 63n - 1n)),
  ...(['UINT32', 'FIXED32'] as const).map((name) => of(name, 0n, 2n ** 32n - 1n)),
  ...(['UINT64', 'FIXED64'] as const).map((name) => of(name, 0n, 2n ** 64n - 1n)),
])

function of(
  name: keyof typeof FieldDescriptorProto_Type,
  min: bigint,
  max: bigint,
): readonly [FieldDescriptorProto_Type, readonly [bigint, bigint]] {
  return [FieldDescriptorProto_Type[name], [min, max]]
}

/** What protobuf has of one field, or extension, whose type is known. */
export function checkField(
  context: RuleContext,
  field: FieldDescriptorProto,
  element: string,
  symbols: Symbols,
): void {
  const { places, report, syntax } = context
  const type = symbols.byName.get(field.typeName.slice(1))
  for (const entry of places.get(field)?.brackets ?? []) {
    const [first] = entry.name
    if (entry.name.length !== 1 || first?.isExtension !== false) continue
    const wrong =
      first.name === 'default'
        ? wrongDefault(syntax, field, entry, type)
        : first.name === 'packed' && entry.value === 'true' && !isPackable(field)
          ? 'has the option packed = true, but only repeated fields of numbers, booleans or enums can be packed; remove the option'
          : undefined
    if (wrong !== undefined) report(entry.at, `${element} ${wrong}`)
  }
  if (syntax === 'proto3' && type?.kind === 'enum' && type.file.syntax === '') {
    report(
      places.get(field)?.type,
      `${element} has the type ${type.name}, a proto2 enum (${type.file.name}), which proto3 cannot use; move the enum to a proto3 file`,
    )
  }
}

function isPackable({ label, type }: FieldDescriptorProto): boolean {
  return label === REPEATED && type !== STRING && type !== BYTES && type !== MESSAGE && type !== GROUP
}

function wrongDefault(
  syntax: string,
  { label, type }: FieldDescriptorProto,
  { value, string }: WrittenOption,
  named: ProtoSymbol | undefined,
): string | undefined {
  if (syntax === 'proto3')
    return 'has a default, which proto3 does not support; remove the default, or change the file to proto2'
  if (label === REPEATED) return 'has a default, which repeated fields cannot have; remove the default'
  if (type === MESSAGE || type === GROUP)
    return 'has a default, which message fields cannot have; remove the default'
  const kind = FieldDescriptorProto_Type[type].toLowerCase()
  const has = `has the default ${string === undefined ? value : JSON.stringify(string)}, but defaults of ${kind} fields`
  if (type === STRING || type === BYTES)
    return string === undefined ? `${has} must be strings in quotes` : undefined
  if (string !== undefined) return `${has} must not be in quotes; remove the quotes`
  const text = value.replaceAll(' ', '')
  if (type === BOOL) return /^(?:true|false)$/.test(text) ? undefined : `${has} must be true or false`
  if (type === FLOAT || type === DOUBLE)
    return /^-?(?:inf|nan|\.?\d)/.test(text) ? undefined : `${has} must be numbers, inf or nan`
  if (type === ENUM) return named ? noValue(named.descriptor as EnumDescriptorProto, text, has) : undefined
  const limits = INTEGERS.get(type)
  if (!limits) return undefined
  const [min, max] = limits
  const number = toBigInt(text)
  return number !== undefined && number >= min && number <= max
    ? undefined
    : `${has} must be integers from ${min} to ${max}`
}

function noValue({ name, value }: EnumDescriptorProto, text: string, has: string): string | undefined {
  if (value.some((one) => one.name === text)) return undefined
  return `${has} must be values of the enum; the values of ${name} are ${value.map((one) => one.name).join(', ')}`
}

function toBigInt(text: string): bigint | undefined {
  const [, sign, digits] = /^(-?)(0[xX][0-9a-fA-F]+|\d+)$/.exec(text) ?? []
  if (digits === undefined) return undefined
  const value = parseInteger(digits)
  return sign === '-' ? -value : value
}

/** An entry of a map whose value is absent has the first value of its enum. */
export function checkMapEntry(
  { places, report }: RuleContext,
  entry: DescriptorProto,
  element: string,
  { byName }: Symbols,
): void {
  const value = entry.field[1]
  const type = value && byName.get(value.typeName.slice(1))
  if (!value || type?.kind !== 'enum') return
  const first = (type.descriptor as EnumDescriptorProto).value[0]
  if (!first || first.number === 0) return
  const field = element.replace(/[^.]*$/, places.get(value)?.name.text ?? entry.name)
  report(
    places.get(value)?.type,
    `${field} is a map with values of the enum ${type.name}, whose first value is ${first.name} = ${first.number}; use an enum whose first value has the number 0`,
  )
}

/** What messages may be extended with, and by which numbers. */
export function checkExtensions(
  { places, report, syntax }: RuleContext,
  extensions: readonly { readonly field: FieldDescriptorProto; readonly element: string }[],
  { byName }: Symbols,
): void {
  const seen = new Map<string, string>()
  for (const { field, element } of extensions) {
    const extendee = byName.get(field.extendee.slice(1))
    const place = places.get(field)
    if (!extendee) continue
    if (syntax === 'proto3' && !/^google\.protobuf\.(?:\w+Options|FeatureSet)$/.test(extendee.name)) {
      report(
        place?.name,
        `${element} extends ${extendee.name}, but proto3 files can only extend option messages such as google.protobuf.FieldOptions; use a field of the type google.protobuf.Any instead, or change the file to proto2`,
      )
    }
    const number = `${element} extends ${extendee.name} with the number ${field.number}`
    const first = seen.get(`${extendee.name} ${field.number}`)
    if (first === undefined) seen.set(`${extendee.name} ${field.number}`, element)
    else report(place?.number, `${number}, which is also used by the extension ${first}; use another number`)
    const ranges = (extendee.descriptor as DescriptorProto).extensionRange
    if (ranges.some(({ start, end }) => field.number >= start && field.number < end)) continue
    const kept = ranges.map(({ start, end }) => `${start} to ${end - 1}`).join(', ')
    const has =
      kept === ''
        ? `declares no numbers for extensions; add an "extensions" statement to ${extendee.name}`
        : `only declares ${kept} for extensions; use one of these numbers`
    report(place?.number, `${number}, but ${extendee.name} ${has}`)
  }
}
