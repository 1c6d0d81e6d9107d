import { createRecent } from '@vinyasa/base'

/** Values by the keys that they were created for: at most `max`, with `maxCharacters` in all their keys. */
export interface BoundedMemo<Value> {
  of(key: string, create: () => Value): Value
}

export function createBoundedMemo<Value>(max: number, maxCharacters: number = Infinity): BoundedMemo<Value> {
  const values = createRecent<{ readonly value: Value }>({ maxEntries: max, maxCharacters })
  return {
    of(key, create) {
      const known = values.get(key)
      if (known) return known.value
      const value = create()
      values.set(key, { value })
      return value
    },
  }
}
