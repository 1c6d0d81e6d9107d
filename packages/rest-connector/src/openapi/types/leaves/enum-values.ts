type EnumValue = string | number | boolean

/** A value that an enum can have in GraphQL. */
function isEnumValue(value: unknown): value is EnumValue {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

export function typeOfValues(values: readonly EnumValue[] = []): string {
  const types = new Set(values.map((value) => typeof value))
  return types.size === 1 ? ([...types][0] as string) : 'mixed'
}

/** What a schema is that allows these values alone. */
export function classifyValues(listed: readonly unknown[]): {
  readonly kind: 'any' | 'scalar' | 'enum'
  readonly type?: string
  readonly values?: readonly EnumValue[]
} {
  const given = [...new Set(listed)].filter((value) => value !== null)
  const values = given.filter(isEnumValue)
  if (values.length === 0 || values.length < given.length) return { kind: 'any' }
  if (values.every((value) => typeof value === 'boolean')) return { kind: 'scalar', type: 'boolean' }
  return { kind: 'enum', values }
}
