import type { EnumDescriptorProto, EnumValueDescriptorProto } from '@bufbuild/protobuf/wkt'
import { toRange } from '../text/parse-ranges.ts'
import type { RuleContext } from './message-rules.ts'

const MAX = 2 ** 31 - 1

/** Holds the values of one enum to protobuf's rules. @param isOpen whether it has numbers without names too */
export function checkEnum(
  context: RuleContext,
  type: EnumDescriptorProto,
  fullName: string,
  isOpen: boolean,
): void {
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
