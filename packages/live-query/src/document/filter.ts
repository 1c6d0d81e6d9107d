import { Kind, print, type ArgumentNode, type FieldNode, type ValueNode } from 'graphql'

/** Argument names with their values as strings: `status: ONLINE` is `status` → `ONLINE`. */
export type FilterArguments = ReadonlyMap<string, string>

/**
 * Returns the arguments of a field as strings, which filter its entities (specification: "Live query filtering").
 * Strings have no quotes, so that `"ONLINE"` and `ONLINE` are equal. Lists and objects have the GraphQL format. `null`
 * and variables without a value do not filter.
 */
export function parseQueryArguments(
  field: FieldNode,
  variables: Readonly<Record<string, unknown>> = {},
): FilterArguments {
  const found = new Map<string, string>()
  for (const argument of field.arguments ?? []) {
    const text = argumentText(argument, variables)
    if (text !== undefined) found.set(argument.name.value, text)
  }
  return found
}

/** Returns the filter for argument values. */
export function filterOfArguments(args: Readonly<Record<string, unknown>>): FilterArguments {
  const given = Object.entries(args).filter(([, value]) => value !== undefined && value !== null)
  return new Map(given.map(([name, value]) => [name, valueText(value)]))
}

/**
 * Returns whether an entity matches. Each field with the name of an argument must equal the argument. Arguments without
 * such a field (`first`, `after`) do not filter.
 */
export function matchesFilter(entity: unknown, filter: FilterArguments): boolean {
  if (typeof entity !== 'object' || entity === null) return true
  for (const [name, text] of filter) {
    if (!Object.hasOwn(entity, name)) continue
    const value = (entity as Record<string, unknown>)[name]
    if (valueText(value) !== text) return false
  }
  return true
}

function argumentText(
  { value }: ArgumentNode,
  variables: Readonly<Record<string, unknown>>,
): string | undefined {
  if (value.kind !== Kind.VARIABLE) return nodeText(value)
  const given = variables[value.name.value]
  return given === undefined || given === null ? undefined : valueText(given)
}

function nodeText(value: ValueNode): string | undefined {
  if (value.kind === Kind.NULL) return undefined
  return value.kind === Kind.STRING ? value.value : print(value)
}

function valueText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
