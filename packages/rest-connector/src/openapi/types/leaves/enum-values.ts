/** A value that an enum can have in GraphQL. */
export function isEnumValue(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

export function typeOfValues(values: readonly (string | number | boolean)[] = []): string {
  const types = new Set(values.map((value) => typeof value))
  return types.size === 1 ? ([...types][0] as string) : 'mixed'
}
