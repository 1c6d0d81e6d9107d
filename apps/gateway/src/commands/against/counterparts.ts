import { bareType, type Named } from './coordinates-of.ts'

type All = ReadonlyMap<string, Named>

/** Something of the old schema that is gone, and what is likely it under its new name. */
export interface Counterpart {
  readonly old: Named
  readonly now: Named
}

/**
 * Pairs what is gone with what has come in its place: types by the fields that give them, everything by its name, and
 * fields that give objects by their types. Where several could be meant there is none.
 */
export function findCounterparts(before: All, after: All): readonly Counterpart[] {
  const gone = [...before.values()].filter(
    ({ coordinate, parent }) => !after.has(coordinate) && (parent === undefined || after.has(parent)),
  )
  const come = [...after.values()].filter(
    ({ coordinate, parent }) => !before.has(coordinate) && (parent === undefined || before.has(parent)),
  )
  const given = typesByFields(before, after)
  const pairs: Counterpart[] = []
  const taken = new Set<Named>()
  const steps: readonly ((old: Named, now: Named) => boolean)[] = [
    (old, now) => given.get(old.coordinate) === now.coordinate,
    (old, now) => lettersOf(old.name) === lettersOf(now.name),
    (old, now) => endsAlike(old.name, now.name),
    (old, now) => givesSameObject(old, now, before),
  ]
  for (const isMeant of steps) {
    const left = gone.filter((old) => !pairs.some((pair) => pair.old === old))
    for (const old of left) {
      const fit = (one: Named, other: Named): boolean =>
        one.parent === other.parent &&
        one.kind === other.kind &&
        isMeant(one, other) &&
        shareMembers(one, other, before, after)
      const meant = come.filter((now) => !taken.has(now) && fit(old, now))
      const [now] = meant
      if (!now || meant.length > 1 || left.some((other) => other !== old && fit(other, now))) continue
      taken.add(now)
      pairs.push({ old, now })
    }
  }
  return pairs
}

/** The new type of a type that is gone, where every field and argument that had it has the same one now. */
function typesByFields(before: All, after: All): ReadonlyMap<string, string | undefined> {
  const found = new Map<string, string | undefined>()
  for (const [coordinate, { type }] of before) {
    const now = after.get(coordinate)?.type
    if (type === undefined || now === undefined) continue
    const [old, next] = [bareType(type), bareType(now)]
    if (after.has(old) || before.has(next)) continue
    found.set(old, found.has(old) && found.get(old) !== next ? undefined : next)
  }
  return found
}

/** A name as it reads, however its words are set apart. */
export function lettersOf(name: string): string {
  return name.replaceAll('_', '').toLowerCase()
}

/** Whether the words of one name are the last ones of the other: `users_v1_GetUser` and `getUser`. */
function endsAlike(one: string, other: string): boolean {
  const [short = [], long = []] = [wordsOf(one), wordsOf(other)].toSorted((a, b) => a.length - b.length)
  return short.length > 0 && long.slice(-short.length).join(' ') === short.join(' ')
}

function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .split(/[_ ]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())
}

function givesSameObject(old: Named, now: Named, before: All): boolean {
  if (old.type === undefined || now.type === undefined || old.kind !== 'field') return false
  return bareType(old.type) === bareType(now.type) && before.get(bareType(old.type))?.kind === 'object'
}

/** Whether two types have a member in common: those that have none are not the same thing. */
function shareMembers(old: Named, now: Named, before: All, after: All): boolean {
  const membersOf = (all: All, { coordinate }: Named): readonly string[] =>
    [...all.values()].filter(({ parent }) => parent === coordinate).map(({ name }) => name)
  const [ours, theirs] = [membersOf(after, now), membersOf(before, old)]
  if (ours.length === 0 && theirs.length === 0) return true
  return theirs.some((name) => ours.some((one) => lettersOf(one) === lettersOf(name) || endsAlike(one, name)))
}
