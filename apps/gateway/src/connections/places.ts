/** The place where an item stands. */
export interface Place<Item> {
  readonly item: Item
  index: number
}

/** Items that come and go, in any order. */
export interface Places<Item> extends Iterable<Item> {
  readonly size: number
  add(item: Item): Place<Item>
  /** Does nothing for one that is not among them. */
  remove(place: Place<Item>): void
  removeIf(isGone: (item: Item) => boolean): void
}

/**
 * In place of a `Set` that many pass through: each time that one of these makes room, its old table points to the new one.
 * Once such a table is old garbage, all that is in the set later survives every collection of the young, with all that it
 * leads to, until the next one of the old.
 */
export function createPlaces<Item>(): Places<Item> {
  const places: Place<Item>[] = []

  function remove(place: Place<Item>): void {
    if (places[place.index] !== place) return
    const last = places.pop() as Place<Item>
    if (last === place) return
    places[place.index] = last
    last.index = place.index
  }

  return {
    get size() {
      return places.length
    },
    add(item) {
      const place = { item, index: places.length }
      places.push(place)
      return place
    },
    remove,
    removeIf(isGone) {
      for (const place of places.slice()) if (isGone(place.item)) remove(place)
    },
    *[Symbol.iterator]() {
      for (const { item } of places) yield item
    },
  }
}
