import { Kind, print, type ArgumentNode, type FieldNode, type ValueNode } from 'graphql'

/** Argument names and the text of their values: `status: ONLINE` is `status` → `ONLINE`. */
export type FilterArguments = ReadonlyMap<string, string>

/**
 * The arguments of a field as text, which filter its entities. Specification: "Live query filtering".
 * Strings stand without their quotes, so that `"ONLINE"` and `ONLINE` are the same; lists and objects as GraphQL
 * prints them; `null` and variables without a value are no filter.
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

/** The same from argument values. */
export function filterOfArguments(args: Readonly<Record<string, unknown>>): FilterArguments {
  const given = Object.entries(args).filter(([, value]) => value !== undefined && value !== null)
  return new Map(given.map(([name, value]) => [name, valueText(value)]))
}

/**
 * Whether an entity passes: each field of its own that an argument names must equal the argument. Arguments that name
 * no field of the entity (`first`, `after`) do not filter.
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
