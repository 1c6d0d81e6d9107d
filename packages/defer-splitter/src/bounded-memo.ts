/** What was created for the last `max` new keys. */
export interface BoundedMemo<Value> {
  of(key: string, create: () => Value): Value
}

export function createBoundedMemo<Value>(max: number): BoundedMemo<Value> {
  const values = new Map<string, { readonly value: Value }>()
  return {
    of(key, create) {
      const known = values.get(key)
      if (known) return known.value
      const value = create()
      values.set(key, { value })
      if (values.size > max) {
        for (const oldest of values.keys()) {
          values.delete(oldest)
          break
        }
      }
      return value
    },
  }
}
