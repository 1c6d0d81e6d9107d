/** What was created for the last `max` new keys, of at most `maxCharacters` together. */
export interface BoundedMemo<Value> {
  of(key: string, create: () => Value): Value
}

export function createBoundedMemo<Value>(max: number, maxCharacters: number = Infinity): BoundedMemo<Value> {
  let characters = 0
  const values = new Map<string, { readonly value: Value }>()
  return {
    of(key, create) {
      const known = values.get(key)
      if (known) return known.value
      const value = create()
      values.set(key, { value })
      characters += key.length
      for (const oldest of values.keys()) {
        if (values.size <= max && characters <= maxCharacters) break
        values.delete(oldest)
        characters -= oldest.length
      }
      return value
    },
  }
}
