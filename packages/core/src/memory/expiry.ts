import type { Clock } from '../time/clock.ts'

/** Keys that expire in the same second are removed together. */
const SLOT_MS = 1_000
/** Maximum number of keys that are removed without a pause. Removing them takes a few milliseconds. */
const MAX_REMOVED = 10_000
const PAUSE_MS = 20

/** Expiry times of the entries of a cache. */
export interface Expiry {
  /** Adds a key. `expiresAt` is a time of the clock; `Infinity` means never. */
  add(key: string, expiresAt: number): void
  /** Removes a key. `expiresAt` must be the value that was added. */
  drop(key: string, expiresAt: number): void
  clear(): void
}

/**
 * Calls `remove` for each key within two seconds after it expires. More than 10,000 keys that expire together are
 * removed in parts. It only visits expired keys, because iterating over a million entries of an `LRUCache` takes half
 * a second. The timer is stopped while there are no keys.
 */
export function createExpiry(remove: (key: string) => void, clock: Clock): Expiry {
  const slots = new Map<number, Set<string>>()
  let timer: unknown

  const slotOf = (time: number): number => Math.ceil(time / SLOT_MS)

  function removeExpired(): void {
    timer = undefined
    const current = slotOf(clock.now())
    let removed = 0
    for (const [slot, keys] of slots) {
      if (slot >= current) continue
      for (const key of keys) {
        if (++removed > MAX_REMOVED) return arm(PAUSE_MS)
        keys.delete(key)
        remove(key)
      }
      slots.delete(slot)
    }
    arm(SLOT_MS)
  }

  function arm(ms: number): void {
    if (slots.size > 0) timer ??= clock.setTimeout(removeExpired, ms)
  }

  function disarm(): void {
    clock.clearTimeout(timer)
    timer = undefined
  }

  return {
    add(key, expiresAt) {
      if (expiresAt === Infinity) return
      const slot = slotOf(expiresAt)
      const keys = slots.get(slot)
      if (keys) keys.add(key)
      else slots.set(slot, new Set([key]))
      arm(SLOT_MS)
    },
    drop(key, expiresAt) {
      const slot = slotOf(expiresAt)
      const keys = slots.get(slot)
      if (keys?.delete(key) && keys.size === 0) slots.delete(slot)
      if (slots.size === 0) disarm()
    },
    clear() {
      slots.clear()
      disarm()
    },
  }
}
