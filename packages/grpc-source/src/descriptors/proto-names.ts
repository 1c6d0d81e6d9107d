import { protoCamelCase } from '@bufbuild/protobuf/reflect'

/** The name of a map field's entry message: `user_ages` → `UserAgesEntry`. */
export function toMapEntryName(protoName: string): string {
  const camel = protoCamelCase(protoName)
  return `${camel.charAt(0).toUpperCase()}${camel.slice(1)}Entry`
}

/** Finds a type by protobuf's scoping: the innermost scope that knows the name wins. */
export function resolveInScope<T>(
  name: string,
  scope: string,
  lookup: (fullName: string) => T | undefined,
): T | undefined {
  if (name.startsWith('.')) return lookup(name.slice(1))
  let prefix = scope
  for (;;) {
    const found = lookup(prefix === '' ? name : `${prefix}.${name}`)
    if (found !== undefined) return found
    if (prefix === '') return undefined
    prefix = prefix.includes('.') ? prefix.slice(0, prefix.lastIndexOf('.')) : ''
  }
}
