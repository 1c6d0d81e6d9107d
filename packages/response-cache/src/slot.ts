/**
 * A note of one plugin on an object that lives as long as one request. A WeakMap would do the same at
 * the price of a tenth of a hit: each young key costs the garbage collector.
 */
export interface Slot<T> {
  /** Only what was noted on this very object: contexts are copied, and those of a batch inherit. */
  get(holder: object): T | undefined
  set(holder: object, value: T): void
}

export function createSlot<T>(): Slot<T> {
  const key = Symbol('response-cache')
  type Holder = { [key]?: { readonly holder: object; readonly value: T } }
  return {
    get(holder: Holder) {
      const note = holder[key]
      return note?.holder === holder ? note.value : undefined
    },
    set(holder: Holder, value) {
      holder[key] = { holder, value }
    },
  }
}
