import { ownerOf } from './client.ts'

/** Number of places in a queue by default. */
const PLACES = 32_768
/** Number of places that each owner can always use, even if other owners have filled the queue. */
const ALWAYS = 16

/** Error for clients whose work was not queued. The work was not started. */
export const NO_PLACE: { readonly code: string; readonly message: string } = {
  code: 'TOO_MANY_AT_ONCE',
  message:
    'Too many backend calls of this client are waiting. Send fewer or smaller operations at the same time, or try again later.',
}

/** Queued items of one owner, in order. */
class Line<Item> {
  readonly items: Set<Item> = new Set()
  /**
   * Continues after the last removed item. An iterator from the beginning would pass all the gaps of removed
   * items.
   */
  readonly inOrder: Iterator<Item> = this.items.values()
}

/**
 * Queue of work for a backend, in which owners take turns (see `ownerOf`). An owner with one call waits for at most
 * one call of each other owner.
 *
 * An owner can queue as many items as there are free places, and always 16. A single owner therefore gets half of the
 * queue.
 */
export class FairQueue<Item> {
  readonly #places: number
  /** Lines with queued items, in the order of their turns. */
  readonly #lines = new Map<unknown, Line<Item>>()
  readonly #turns = this.#lines.entries()
  readonly #ownersOf = new Map<Item, unknown[]>()

  constructor(places: number = PLACES) {
    this.#places = places
  }

  get size(): number {
    return this.#ownersOf.size
  }

  /**
   * Queues an item. `caller` is the context of the operation, or `Callers` if several operations share the
   * item. Returns false if the owner cannot use another place.
   */
  add(item: Item, caller: unknown): boolean {
    const owner = ownerOfWork(caller)
    const waiting = this.#lines.get(owner)?.items.size ?? 0
    if (waiting >= Math.max(ALWAYS, this.#places - this.size)) return false
    const owners: unknown[] = []
    this.#ownersOf.set(item, owners)
    const join = (joining: unknown): void => this.#enter(item, owners, ownerOf(joining))
    if (caller instanceof Callers) caller.tellOf(join)
    else join(caller)
    return true
  }

  /** Removes and returns the next item. */
  next(): Item | undefined {
    if (this.size === 0) return undefined
    const [owner, line] = this.#turns.next().value as [unknown, Line<Item>]
    const item = line.inOrder.next().value as Item
    // The owner moves to the end.
    this.#lines.delete(owner)
    this.#lines.set(owner, line)
    this.delete(item)
    return item
  }

  /** Removes an item, if it is queued. */
  delete(item: Item): void {
    for (const owner of this.#ownersOf.get(item) ?? []) {
      const line = this.#lines.get(owner)
      if (line?.items.delete(item) && line.items.size === 0) this.#lines.delete(owner)
    }
    this.#ownersOf.delete(item)
  }

  /** Removes all items and returns them in the order in which they were added. */
  clear(): Item[] {
    const items = [...this.#ownersOf.keys()]
    for (const item of items) this.delete(item)
    return items
  }

  /**
   * Adds an item to the line of an owner. An item with several owners is removed at the first turn of any of
   * its owners.
   */
  #enter(item: Item, owners: unknown[], owner: unknown): void {
    if (this.#ownersOf.get(item) !== owners || owners.includes(owner)) return
    let line = this.#lines.get(owner)
    if (!line) this.#lines.set(owner, (line = new Line()))
    line.items.add(item)
    owners.push(owner)
  }
}

/** Contexts of the operations that share one item of work. The item waits in the turn of each owner. */
export class Callers {
  #first: unknown
  #others: Set<unknown> | undefined
  #tell: ((context: unknown) => void) | undefined

  constructor(first: unknown) {
    this.#first = first
  }

  get first(): unknown {
    return this.#first
  }

  /** Adds an operation. */
  join(context: unknown): void {
    ;(this.#others ??= new Set()).add(context)
    this.#tell?.(context)
  }

  /** Removes an operation. The item keeps its place in the queue. */
  leave(context: unknown): void {
    this.#others?.delete(context)
  }

  /** Calls back for all operations, and for each operation that is added later. */
  tellOf(tell: (context: unknown) => void): void {
    this.#tell = tell
    tell(this.#first)
    for (const context of this.#others ?? []) tell(context)
  }

  /** Releases all contexts when the work is over, so that they can be garbage-collected early. */
  clear(): void {
    this.#first = undefined
    this.#others = undefined
    this.#tell = undefined
  }
}

/** Returns the owner of an item of work. It is the first operation's owner if several share the item. See `ownerOf`. */
export function ownerOfWork(caller: unknown): unknown {
  return ownerOf(caller instanceof Callers ? caller.first : caller)
}
