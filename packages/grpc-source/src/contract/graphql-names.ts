import type { DescEnum, DescMessage } from '@bufbuild/protobuf'

/** How messages and enums are named: by their own name where it is free, or always with their package. */
export type TypeNaming = 'short' | 'qualified'

/** The names of its parents and its own, joined. */
export function shortName(desc: DescMessage | DescEnum): string {
  return toGraphQLName(nestedName(desc))
}

/** The same behind its package: `GoogleTypeDateTime`. */
export function qualifiedName(desc: DescMessage | DescEnum): string {
  const parts = desc.file.proto.package.split('.').flatMap((part) => part.split('_'))
  return toGraphQLName(parts.map(capitalize).join('') + nestedName(desc))
}

function nestedName(desc: DescMessage | DescEnum): string {
  return desc.parent ? nestedName(desc.parent) + desc.name : desc.name
}

/** Makes any proto name a legal GraphQL name; two leading underscores are GraphQL's own. */
export function toGraphQLName(name: string): string {
  const legal = name.replace(/[^_0-9A-Za-z]/g, '_').replace(/^_{2,}/, '_')
  return /^[0-9]/.test(legal) || legal === '' ? `_${legal}` : legal
}

export function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** `iamPolicy` for `IAMPolicy`: all of a leading abbreviation goes down. */
export function decapitalize(name: string): string {
  return name.replace(/^[A-Z]+(?=[A-Z][a-z]|[^A-Za-z]|$)|^[A-Z]/, (start) => start.toLowerCase())
}

export function uncapitalize(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1)
}

/** `USER_STATUS_` for `UserStatus`: the prefix that style guides give to an enum's values. */
export function enumPrefix(enumName: string): string {
  return `${enumName
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toUpperCase()}_`
}

/** The first of the names that nobody has; where there is none, the last one with a number. */
export function firstFree(candidates: readonly string[], isTaken: (name: string) => boolean): string {
  const free = candidates.find((name) => !isTaken(name))
  if (free !== undefined) return free
  const last = candidates.at(-1) ?? ''
  let name = last
  for (let number = 2; isTaken(name); number++) name = `${last}_${number}`
  return name
}
