import { ownerOf } from './client.ts'

/** The places of a queue that says nothing else. */
const PLACES = 32_768
/** Places that an owner has always, also where others have filled the queue before it came. */
const ALWAYS = 16

/** A client whose work found no place reads this. Nothing of it was done. */
export const NO_PLACE: { readonly code: string; readonly message: string } = {
  code: 'TOO_MANY_AT_ONCE',
  message:
    'As much as may wait for the service for one client waits already; ask for less at once, or try again in a moment.',
}

/** The items of one owner that wait, in their order. */
class Line<Item> {
  readonly items: Set<Item> = new Set()
  /** It goes on behind what was taken: from the beginning, the first would be found behind all the gaps of those before. */
  readonly inOrder: Iterator<Item> = this.items.values()
}

/**
 * Work that waits for a backend, served by owners in turn (`ownerOf`): whoever has one call waits for one of each other
 * owner, however many those have.
 *
 * An owner may have as many waiting as there are places free: half of all where it is alone, fewer the more others wait, and
 * a few always.
 */
export class FairQueue<Item> {
  readonly #places: number
  /** The lines in which something waits, in the order of their turns. */
  readonly #lines = new Map<unknown, Line<Item>>()
  readonly #turns = this.#lines.entries()
  readonly #ownersOf = new Map<Item, unknown[]>()

  constructor(places: number = PLACES) {
    this.#places = places
  }

  get size(): number {
    return this.#ownersOf.size
  }

  /** `caller`: the operation's context, or the `Callers` of work that several share. False: there is no place. */
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

  /** Takes what is next. */
  next(): Item | undefined {
    if (this.size === 0) return undefined
    const [owner, line] = this.#turns.next().value as [unknown, Line<Item>]
    const item = line.inOrder.next().value as Item
    // Behind all others.
    this.#lines.delete(owner)
    this.#lines.set(owner, line)
    this.delete(item)
    return item
  }

  /** Does nothing for what does not wait. */
  delete(item: Item): void {
    for (const owner of this.#ownersOf.get(item) ?? []) {
      const line = this.#lines.get(owner)
      if (line?.items.delete(item) && line.items.size === 0) this.#lines.delete(owner)
    }
    this.#ownersOf.delete(item)
  }

  /** Takes all, in the order in which they came. */
  clear(): Item[] {
    const items = [...this.#ownersOf.keys()]
    for (const item of items) this.delete(item)
    return items
  }

  /** Of what several ask for, whoever's turn comes first brings it forward. */
  #enter(item: Item, owners: unknown[], owner: unknown): void {
    if (this.#ownersOf.get(item) !== owners || owners.includes(owner)) return
    let line = this.#lines.get(owner)
    if (!line) this.#lines.set(owner, (line = new Line()))
    line.items.add(item)
    owners.push(owner)
  }
}

/** The operations that ask for one piece of work, by their contexts: it waits in the turns of each. */
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

  /** One more asks. */
  join(context: unknown): void {
    ;(this.#others ??= new Set()).add(context)
    this.#tell?.(context)
  }

  /** Nothing of it is kept here any more, though the work keeps its places. */
  leave(context: unknown): void {
    this.#others?.delete(context)
  }

  /** Tells of all that ask, and of each that comes. */
  tellOf(tell: (context: unknown) => void): void {
    this.#tell = tell
    tell(this.#first)
    for (const context of this.#others ?? []) tell(context)
  }

  /** The work is over. What has grown old with it would keep the contexts, and all that they lead to, for as long again. */
  clear(): void {
    this.#first = undefined
    this.#others = undefined
    this.#tell = undefined
  }
}

/** Whose share a piece of work takes: the first one's, if several ask for it (`Callers`). See `ownerOf`. */
export function ownerOfWork(caller: unknown): unknown {
  return ownerOf(caller instanceof Callers ? caller.first : caller)
}
