interface Made<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): unknown
}

/** Caches the result of a function by its argument. Entries are never evicted by default, so use it for few keys. */
export function keyed<Key, Value>(
  make: (key: Key) => Value,
  made: Made<Key, Value> = new Map(),
): (key: Key) => Value {
  return (key) => {
    const known = made.get(key)
    if (known !== undefined) return known
    const value = make(key)
    made.set(key, value)
    return value
  }
}
