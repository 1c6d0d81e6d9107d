import {
  FeatureSet_EnumType,
  FeatureSet_JsonFormat,
  type DescriptorProto,
  type EnumDescriptorProto,
  type FeatureSet,
  type FieldDescriptorProto,
} from '@bufbuild/protobuf/wkt'
import { inScope } from '../text/context.ts'
import type { ParsedProto } from '../text/parse-file.ts'
import { ProtoSyntaxError, type Token } from '../text/tokens.ts'
import { checkEnum } from './enum-rules.ts'
import { checkExtensions, checkField, checkMapEntry } from './field-rules.ts'
import { checkMessage, type RuleContext } from './message-rules.ts'
import { nameFaults } from './name-rules.ts'
import type { Symbols } from './symbols.ts'

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
