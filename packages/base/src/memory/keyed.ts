interface Made<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): unknown
}

/** Makes each value once. By default values live as long as the function: the keys must be few. */
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
