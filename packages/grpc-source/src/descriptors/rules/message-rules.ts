import type { DescriptorProto, FieldDescriptorProto } from '@bufbuild/protobuf/wkt'
import { protoCamelCase } from '@bufbuild/protobuf/reflect'
import type { Place, UninterpretedOptions } from '../text/context.ts'
import { toRange } from '../text/parse-ranges.ts'
import type { Token } from '../text/tokens.ts'

interface Range {
  readonly start: number
  readonly end: number
}

export interface RuleContext {
  readonly syntax: string
  readonly places: ReadonlyMap<object, Place>
  /** The text of an option's value, as it was written at an element, by the element's descriptor. */
  option(target: UninterpretedOptions['target'], name: string): string | undefined
  /** Told of what protobuf's rules refuse, and of how to fix it. */
  readonly report: (at: Token | undefined, message: string) => void
}

/**
 * What protobuf has of the numbers and names of one message.
 * @param isLegacyJson whether its names need not differ in JSON, as in proto2
 */
export function checkMessage(
  context: RuleContext,
  message: DescriptorProto,
  fullName: string,
  isLegacyJson: boolean,
): void {
  const { places, report, syntax, option } = context
  checkNumbers(context, message, fullName)
  const reserved = new Set(message.reservedName)
  for (const field of message.field) {
    if (reserved.has(field.name)) {
      report(
        places.get(field)?.name,
        `the name of ${fullName}.${field.name} is reserved by ${fullName}; rename the field, or remove the name from the reserved list`,
      )
    }
  }
  checkRanges(context, message, fullName)
  if (option(message, 'deprecated_legacy_json_field_conflicts') !== 'true') {
    // Field masks know nothing of the names that were written, so both must differ.
    checkJsonNames(context, message, fullName, isLegacyJson, (field) => protoCamelCase(field.name))
    checkJsonNames(context, message, fullName, isLegacyJson, jsonNameOf)
  }
  if (syntax === 'proto3' && option(message, 'message_set_wire_format') === 'true') {
    report(
      places.get(message)?.name,
      `${fullName} sets message_set_wire_format, which proto3 does not support; remove the option, or change the file to proto2`,
    )
  }
}

function checkNumbers({ places, report }: RuleContext, message: DescriptorProto, fullName: string): void {
  const byNumber = new Map<number, FieldDescriptorProto>()
  for (const field of message.field) {
    const { number } = field
    const at = places.get(field)?.number
    const has = `${fullName}.${field.name} has the number ${number}, which`
    const first = byNumber.get(number)
    if (first) report(at, `${has} is also used by ${fullName}.${first.name}; use another number`)
    else byNumber.set(number, field)
    const includes = ({ start, end }: Range): boolean => number >= start && number < end
    const reserved = message.reservedRange.find(includes)
    if (reserved) report(at, `${has} is reserved by ${fullName} (${written(reserved)}); use another number`)
    const extensions = message.extensionRange.find(includes)
    if (extensions) {
      report(
        at,
        `${has} is declared for extensions by ${fullName} (${written(extensions)}); use another number`,
      )
    }
  }
}

function checkRanges({ places, report }: RuleContext, message: DescriptorProto, fullName: string): void {
  const seen: { readonly range: Range; readonly kind: string }[] = []
  const add = (range: Range, kind: string): void => {
    const other = seen.find((one) => range.start < one.range.end && one.range.start < range.end)
    seen.push({ range, kind })
    if (!other) return
    report(
      places.get(range)?.name,
      `${fullName} has the ${kind} range ${written(range)}, which overlaps with the ${other.kind} range ${written(other.range)}; change one of the ranges`,
    )
  }
  for (const range of message.reservedRange) add(range, 'reserved')
  for (const range of message.extensionRange) add(range, 'extension')
}

function written({ start, end }: Range): string {
  return toRange(start, end - 1)
}

function jsonNameOf({ jsonName }: FieldDescriptorProto): string {
  return jsonName
}

/** Messages that need no JSON may have names that are one in it as long as nobody wrote both. */
function checkJsonNames(
  { places, report }: RuleContext,
  message: DescriptorProto,
  fullName: string,
  isLegacyJson: boolean,
  nameOf: (field: FieldDescriptorProto) => string,
): void {
  const isWritten = (field: FieldDescriptorProto): boolean => nameOf(field) !== protoCamelCase(field.name)
  const byName = new Map<string, FieldDescriptorProto>()
  for (const field of message.field) {
    const name = nameOf(field)
    const first = byName.get(name)
    if (!first) byName.set(name, field)
    if (!first || first.name === field.name) continue
    const isByDefault = !isWritten(first) && !isWritten(field)
    if (isByDefault && nameOf === jsonNameOf) continue
    if (isLegacyJson && !(isWritten(first) && isWritten(field))) continue
    const what = nameOf === jsonNameOf ? 'JSON name' : 'default JSON name'
    const change = nameOf === jsonNameOf ? 'change the json_name or the name of' : 'rename'
    report(
      places.get(field)?.name,
      `${fullName}.${field.name} has the ${what} "${name}", which is also the ${what} of ${fullName}.${first.name}; ${change} one of the fields`,
    )
  }
}
