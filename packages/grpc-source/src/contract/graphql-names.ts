import type { DescEnum, DescMessage } from '@bufbuild/protobuf'

/** Names of messages and enums: the short name if it is free, or always with the package. */
export type TypeNaming = 'short' | 'qualified'

/** Returns the names of its parents and its own name, joined. */
export function shortName(desc: DescMessage | DescEnum): string {
  return toGraphQLName(nestedName(desc))
}

/** Returns the short name with its package as a prefix: `GoogleTypeDateTime`. */
export function qualifiedName(desc: DescMessage | DescEnum): string {
  const parts = desc.file.proto.package.split('.').flatMap((part) => part.split('_'))
  return toGraphQLName(parts.map(capitalize).join('') + nestedName(desc))
}

function nestedName(desc: DescMessage | DescEnum): string {
  return desc.parent ? nestedName(desc.parent) + desc.name : desc.name
}

/** Converts a proto name to a valid GraphQL name. GraphQL reserves names with two leading underscores. */
export function toGraphQLName(name: string): string {
  const legal = name.replace(/[^_0-9A-Za-z]/g, '_').replace(/^_{2,}/, '_')
  return /^[0-9]/.test(legal) || legal === '' ? `_${legal}` : legal
}

export function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** Returns `iamPolicy` for `IAMPolicy`: a leading abbreviation becomes lower case. */
export function decapitalize(name: string): string {
  return name.replace(/^[A-Z]+(?=[A-Z][a-z]|[^A-Za-z]|$)|^[A-Z]/, (start) => start.toLowerCase())
}

export function uncapitalize(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1)
}

/** Returns `USER_STATUS_` for `UserStatus`, the prefix that style guides require for enum values. */
export function enumPrefix(enumName: string): string {
  return `${enumName
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toUpperCase()}_`
}

/** Returns the first free name, or the last name with a number if all are taken. */
export function firstFree(candidates: readonly string[], isTaken: (name: string) => boolean): string {
  const free = candidates.find((name) => !isTaken(name))
  if (free !== undefined) return free
  const last = candidates.at(-1) ?? ''
  let name = last
  for (let number = 2; isTaken(name); number++) name = `${last}_${number}`
  return name
}
