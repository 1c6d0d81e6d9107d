/** Something that wants a name, with the names that it could have, the most wanted one first. */
interface NameWish {
  readonly key: string
  readonly candidates: readonly string[]
}

/**
 * Gives every key a name of its own. Whoever wants a name that another wants too, or that is taken, goes on to its next
 * candidate, all of them alike: the result does not depend on the order of the wishes. Where candidates run out, the
 * last one is numbered in the order of the keys.
 */
export function assignNames(
  wishes: readonly NameWish[],
  taken: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const levels = new Map(wishes.map(({ key }) => [key, 0]))
  const nameOf = ({ key, candidates }: NameWish): string => candidates[levels.get(key) ?? 0] ?? key
  for (let isSettled = false; !isSettled;) {
    isSettled = true
    for (const [name, rivals] of groupBy(wishes, nameOf)) {
      if (rivals.length === 1 && !taken.has(name)) continue
      for (const { key, candidates } of rivals) {
        const level = levels.get(key) ?? 0
        if (level + 1 >= candidates.length) continue
        levels.set(key, level + 1)
        isSettled = false
      }
    }
  }
  const names = new Map<string, string>()
  const used = new Set(taken)
  for (const wish of wishes.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
    const wanted = nameOf(wish)
    let name = wanted
    for (let number = 2; used.has(name); number += 1) name = `${wanted}_${number}`
    used.add(name)
    names.set(wish.key, name)
  }
  return names
}

/** Items by what a function says of them, in their order. */
export function groupBy<Key, Item>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
): ReadonlyMap<Key, readonly Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
