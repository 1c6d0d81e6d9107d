import { createRecent, createRoom } from '@vinyasa/core'

/** Returns the value of a key, and creates it if necessary. */
export type BoundedMemo<Value> = (key: string, create: () => Value) => Value

/** Creates a memo of at most `max` values. */
export function createBoundedMemo<Value>(max: number): BoundedMemo<Value> {
  const values = createRecent<{ readonly value: Value }>(createRoom(max))
  return (key, create) => {
    const known = values.get(key)
    if (known) return known.value
    const value = create()
    values.set(key, { value }, 1)
    return value
  }
}
