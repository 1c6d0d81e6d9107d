import { protoCamelCase } from '@bufbuild/protobuf/reflect'
import { inScope } from './text/context.ts'

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
  for (const outer of outwards(scope)) {
    const found = lookup(inScope(outer, name))
    if (found !== undefined) return found
  }
  return undefined
}

/** The scope, then each one around it: `a.b` → `a.b`, `a`, ``. */
export function* outwards(scope: string): Generator<string> {
  for (let at = scope; at !== ''; at = at.slice(0, Math.max(at.lastIndexOf('.'), 0))) yield at
  yield ''
}
