import {
  FeatureSet_EnumType,
  FeatureSet_JsonFormat,
  type DescriptorProto,
  type EnumDescriptorProto,
  type FeatureSet,
  type FieldDescriptorProto,
  type EnumValueDescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
} from '@bufbuild/protobuf/wkt'
import { inScope } from '../text/context.ts'
import type { ParsedProto } from '../text/parse-file.ts'
import { ProtoSyntaxError, type Token } from '../text/tokens.ts'
import { checkMessage, type RuleContext } from './message-rules.ts'
import type { Symbols, ProtoSymbol } from './symbols.ts'
import { toRange } from '../text/parse-ranges.ts'
import type { WrittenOption } from '../text/option-text.ts'
import { parseInteger } from '../text/token-reader.ts'

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
function checkField(
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
function checkMapEntry(
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
function checkExtensions(
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

const MAX = 2 ** 31 - 1

/** Holds the values of one enum to protobuf's rules. @param isOpen whether it has numbers without names too */
function checkEnum(context: RuleContext, type: EnumDescriptorProto, fullName: string, isOpen: boolean): void {
  const { places, report, syntax, option } = context
  const [first] = type.value
  if (isOpen && first && first.number !== 0) {
    report(
      places.get(first)?.name,
      `the first value of ${fullName} is ${first.name} = ${first.number}, but the first value of an open enum must have the number 0; start the enum with a value such as ${first.name.replace(/_.*/, '')}_UNSPECIFIED = 0`,
    )
  }
  checkAliases(context, type, fullName)
  checkReserved(context, type, fullName)
  if (syntax !== '' && option(type, 'deprecated_legacy_json_field_conflicts') !== 'true')
    checkShortNames(context, type)
}

function checkAliases(
  { places, report, option }: RuleContext,
  type: EnumDescriptorProto,
  fullName: string,
): void {
  const mayAlias = option(type, 'allow_alias') === 'true'
  const byNumber = new Map<number, EnumValueDescriptorProto>()
  let hasAlias = false
  for (const value of type.value) {
    const first = byNumber.get(value.number)
    byNumber.set(value.number, first ?? value)
    if (!first) continue
    hasAlias = true
    if (mayAlias) continue
    report(
      places.get(value)?.number,
      `${first.name} and ${value.name} of ${fullName} have the same number ${value.number}; change one of the numbers, or set option allow_alias = true;`,
    )
  }
  if (mayAlias && !hasAlias) {
    report(
      places.get(type)?.name,
      `${fullName} sets allow_alias, but all values of the enum have different numbers; remove the option allow_alias`,
    )
  }
}

function checkReserved({ places, report }: RuleContext, type: EnumDescriptorProto, fullName: string): void {
  const names = new Set(type.reservedName)
  for (const value of type.value) {
    const { number, name } = value
    const range = type.reservedRange.find(({ start, end }) => number >= start && number <= end)
    if (range) {
      report(
        places.get(value)?.number,
        `${name} has the number ${number}, which ${fullName} reserves (${toRange(range.start, range.end, MAX)}); use another number`,
      )
    }
    if (names.has(name)) {
      report(
        places.get(value)?.name,
        `the name ${name} is reserved by ${fullName}; rename the value, or remove the name from the reserved list`,
      )
    }
  }
  for (const [index, range] of type.reservedRange.entries()) {
    const other = type.reservedRange
      .slice(0, index)
      .find(({ start, end }) => range.start <= end && start <= range.end)
    if (!other) continue
    report(
      places.get(range)?.name,
      `${fullName} has the reserved range ${toRange(range.start, range.end, MAX)}, which overlaps with the reserved range ${toRange(other.start, other.end, MAX)}; change one of the ranges`,
    )
  }
}

/** Generated code of some languages has values without the enum's name in front, in camel case. */
function checkShortNames({ places, report }: RuleContext, type: EnumDescriptorProto): void {
  const byName = new Map<string, EnumValueDescriptorProto>()
  for (const value of type.value) {
    const name = toPascalCase(withoutPrefix(value.name, type.name))
    const first = byName.get(name)
    byName.set(name, first ?? value)
    if (!first || first.name === value.name || first.number === value.number) continue
    report(
      places.get(value)?.name,
      `${value.name} and ${first.name} have the same name in generated code, which removes the prefix ${type.name} and converts the names to PascalCase; rename one of the values`,
    )
  }
}

function withoutPrefix(name: string, enumName: string): string {
  const prefix = enumName.replaceAll('_', '').toLowerCase()
  let at = 0
  for (const char of prefix) {
    while (name[at] === '_') at += 1
    if (name[at]?.toLowerCase() !== char) return name
    at += 1
  }
  while (name[at] === '_') at += 1
  return at === name.length ? name : name.slice(at)
}

function toPascalCase(name: string): string {
  return name
    .split('_')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1).toLowerCase())
    .join('')
}

/** Says which symbols have a name that another has, and what is to be done. */
function* nameFaults({
  byName,
  packages,
  duplicates,
}: Symbols): Generator<{ readonly symbol: ProtoSymbol; readonly message: string }> {
  for (const { symbol, first } of duplicates) yield { symbol, message: twice(symbol, first) }
  for (const symbol of byName.values()) {
    const [file] = packages.get(symbol.name) ?? []
    if (file !== undefined)
      yield {
        symbol,
        message: `${symbol.name} is also the name of a package in ${file}; rename the ${kindOf(symbol)} or the package`,
      }
  }
}

function kindOf({ kind }: ProtoSymbol): string {
  return kind === 'value' ? 'enum value' : kind
}

function twice(symbol: ProtoSymbol, first: ProtoSymbol): string {
  const { name, kind, file } = symbol
  if (first.file !== file) {
    return `${name} is also defined in ${first.file.name}; rename one of the definitions, or, if both files are the same, import the file by the same path everywhere`
  }
  const what = first.kind === kind ? '' : `, as ${kindOf(first)} and as ${kindOf(symbol)}`
  const why =
    kind === 'value' || first.kind === 'value'
      ? '; enum values must have unique names in the package or message that contains the enum, so use a prefix such as the name of the enum'
      : '; rename one of the definitions'
  return `${name} is defined twice${what}${why}`
}

/** The faults of one file, in the order of their places. */
export interface FileFaults {
  readonly file: string
  readonly faults: readonly ProtoSyntaxError[]
}

/** The features that the rules ask for; an element has those of what it stands in, unless it sets its own. */
type Features = Partial<Pick<FeatureSet, 'enumType' | 'jsonFormat'>>

function inherit(outer: Features, own: FeatureSet | undefined): Features {
  return {
    enumType: own?.enumType || outer.enumType,
    jsonFormat: own?.jsonFormat || outer.jsonFormat,
  }
}

interface Found {
  readonly at: Token
  readonly message: string
}

/**
 * Finds what protoc refuses in files whose types are resolved: of names, numbers, ranges, defaults, and what a syntax has
 * not. Files that break these rules have no one meaning: of two fields of one number one is lost.
 */
export function checkFiles(parsed: readonly ParsedProto[], symbols: Symbols): FileFaults[] {
  const ofNames = new Map<object, Found[]>()
  const places = new Map(parsed.map((one) => [one.file as object, one.places]))
  for (const { symbol, message } of nameFaults(symbols)) {
    const at = places.get(symbol.file)?.get(symbol.descriptor)?.name
    if (at) ofNames.set(symbol.file, [...(ofNames.get(symbol.file) ?? []), { at, message }])
  }
  return parsed.flatMap((one) => {
    const found = [...(ofNames.get(one.file) ?? []), ...checkFile(one, symbols)]
    if (found.length === 0) return []
    const faults = found
      .toSorted((a, b) => a.at.start - b.at.start)
      .map(({ at, message }) => new ProtoSyntaxError(at, message))
    return [{ file: one.file.name, faults }]
  })
}

function checkFile({ file, places, options }: ParsedProto, symbols: Symbols): readonly Found[] {
  const found: Found[] = []
  const written = new Map(options.map(({ target, entries }) => [target as object, entries]))
  const context: RuleContext = {
    syntax: file.syntax,
    places,
    option: (target, name) =>
      written.get(target)?.find((entry) => entry.name.length === 1 && entry.name[0]?.name === name)?.value,
    report(at, message) {
      if (at) found.push({ at, message })
    },
  }
  const extensions: { field: FieldDescriptorProto; element: string }[] = []

  function visitEnum(type: EnumDescriptorProto, scope: string, inherited: Features): void {
    const features = inherit(inherited, type.options?.features)
    checkEnum(context, type, inScope(scope, type.name), isOpen(file.syntax, features))
  }

  function visitFields(fields: readonly FieldDescriptorProto[], scope: string): void {
    for (const field of fields) checkField(context, field, inScope(scope, field.name), symbols)
  }

  function visitMessage(message: DescriptorProto, scope: string, inherited: Features): void {
    const fullName = inScope(scope, message.name)
    if (message.options?.mapEntry === true) return checkMapEntry(context, message, fullName, symbols)
    const features = inherit(inherited, message.options?.features)
    checkMessage(context, message, fullName, isLegacyJson(file.syntax, features))
    visitFields(message.field, fullName)
    visitExtensions(message.extension, fullName)
    for (const type of message.enumType) visitEnum(type, fullName, features)
    for (const nested of message.nestedType) visitMessage(nested, fullName, features)
    return undefined
  }

  function visitExtensions(fields: readonly FieldDescriptorProto[], scope: string): void {
    visitFields(fields, scope)
    for (const field of fields) extensions.push({ field, element: inScope(scope, field.name) })
  }

  const features = inherit({}, file.options?.features)
  for (const message of file.messageType) visitMessage(message, file.package, features)
  for (const type of file.enumType) visitEnum(type, file.package, features)
  visitExtensions(file.extension, file.package)
  checkExtensions(context, extensions, symbols)
  return found
}

/** Whether an enum has numbers without names too, so that 0 must have one. */
function isOpen(syntax: string, { enumType }: Features): boolean {
  return syntax === 'editions' ? enumType !== FeatureSet_EnumType.CLOSED : syntax === 'proto3'
}

/** Whether names of a message that are one in JSON are the business of those who need JSON. */
function isLegacyJson(syntax: string, { jsonFormat }: Features): boolean {
  return syntax === 'editions' ? jsonFormat === FeatureSet_JsonFormat.LEGACY_BEST_EFFORT : syntax === ''
}
