import { getHeapStatistics } from 'node:v8'

/** Memory held for one peer, such as part of a body, a queue, or parsed variables. */
export interface Holding {
  /**
   * Sets the current size of the holding in bytes. If the budget is exceeded, this can drop holdings, including this
   * holding.
   */
  resize(bytes: number): void
  /** Removes the holding from the ledger. Later calls do nothing. */
  release(): void
}

/** Counts the memory that this process holds for peers. Sizes are bytes in memory, not bytes on the wire. */
export interface Ledger {
  readonly bytes: number
  readonly maxBytes: number
  /** Number of dropped holdings. */
  readonly dropped: number
  /** Whether the budget is exceeded and nothing more can be dropped. Refuse new work with 503 then. */
  readonly isFull: boolean
  /**
   * Adds a holding.
   * @param owner Name of the client, or any object. Holdings of the same owner are added up to find the largest
   * owner. `undefined` makes the holding its own owner.
   * @param drop Frees the memory and reports the refusal to the peer. Called at most once, synchronously from `hold`
   * or `resize`, after the holding was released. The holding counts but is never dropped if `drop` is missing.
   */
  hold(owner: unknown, bytes: number, drop?: () => void): Holding
}

/** Part of the budget that must be free after dropping. Otherwise the next byte could exceed the budget again. */
const FREED = 1 / 8

/**
 * Creates a ledger with a budget in bytes. If it is exceeded, the largest owner loses its largest holdings first,
 * until an eighth of the budget is free.
 */
export function createLedger(maxBytes: number): Ledger {
  const owners = new Map<unknown, Set<Held>>()
  let total = 0
  let dropped = 0

  class Held implements Holding {
    bytes = 0
    readonly owner: unknown
    readonly drop: (() => void) | undefined
    isReleased = false

    constructor(owner: unknown, drop: (() => void) | undefined) {
      this.owner = owner ?? this
      this.drop = drop
    }

    resize(bytes: number): void {
      if (this.isReleased) return
      const before = this.bytes
      this.bytes = bytes
      total += bytes - before
      if (before === 0 || bytes === 0) list(this)
      if (bytes > before && total > maxBytes) dropLargest()
    }

    release(): void {
      this.resize(0)
      this.isReleased = true
    }
  }

  function list(held: Held): void {
    const holdings = owners.get(held.owner)
    if (held.bytes > 0 && holdings) holdings.add(held)
    else if (held.bytes > 0) owners.set(held.owner, new Set([held]))
    else if (holdings?.delete(held) && holdings.size === 0) owners.delete(held.owner)
  }

  function dropLargest(): void {
    const goal = maxBytes * (1 - FREED)
    const bySize = [...owners.values()]
      .map((holdings) => ({ holdings: [...holdings].filter(({ drop }) => drop), bytes: sum(holdings) }))
      .toSorted((a, b) => b.bytes - a.bytes)
    for (const { holdings } of bySize)
      for (const held of holdings.toSorted((a, b) => b.bytes - a.bytes)) {
        if (total <= goal) return
        if (held.isReleased) continue
        held.release()
        held.drop?.()
        dropped++
      }
  }

  return {
    get bytes() {
      return total
    },
    maxBytes,
    get dropped() {
      return dropped
    },
    get isFull() {
      return total > maxBytes
    },
    hold(owner, bytes, drop) {
      const held = new Held(owner, drop)
      held.resize(bytes)
      return held
    },
  }
}

function sum(holdings: Iterable<{ readonly bytes: number }>): number {
  let bytes = 0
  for (const held of holdings) bytes += held.bytes
  return bytes
}

const OF_PROCESS = Symbol.for('vinyasa.ledger')
const shared = globalThis as { [OF_PROCESS]?: Ledger }

/**
 * Returns the ledger of this process, which all plugins share. Its budget is a quarter of V8's heap limit
 * (`--max-old-space-size`).
 */
export function processLedger(): Ledger {
  return (shared[OF_PROCESS] ??= createLedger(getHeapStatistics().heap_size_limit / 4))
}

/**
 * Sizes in 64-bit V8, rounded up: an object or list, an object property, a list item, and a string without
 * its characters.
 */
const OBJECT_BYTES = 64
const MEMBER_BYTES = 40
const ITEM_BYTES = 16
const STRING_BYTES = 24

/**
 * Estimates the memory of parsed JSON in bytes. The estimate is between half and four times the real value,
 * and twice on average.
 */
export function heldBytes(value: unknown): number {
  const waiting: unknown[] = [value]
  let bytes = 0
  while (waiting.length > 0) {
    const one = waiting.pop()
    if (typeof one === 'string') bytes += STRING_BYTES + 2 * one.length
    else if (ArrayBuffer.isView(one)) bytes += one.byteLength
    else if (Array.isArray(one)) {
      bytes += OBJECT_BYTES + ITEM_BYTES * one.length
      for (const item of one) if (typeof item !== 'number') waiting.push(item)
    } else if (typeof one === 'object' && one !== null) {
      const members = one as Readonly<Record<string, unknown>>
      bytes += OBJECT_BYTES
      for (const name of Object.keys(one)) {
        bytes += MEMBER_BYTES + 2 * name.length
        waiting.push(members[name])
      }
    }
  }
  return bytes
}
