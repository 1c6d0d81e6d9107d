const MOST_EDITS = 3

/** Returns the known names that are most similar to an unknown name. The list is empty if no name is similar. */
export function nearestNames(name: string, known: Iterable<string>, count = 3): readonly string[] {
  const wanted = name.toLowerCase()
  const scored: { readonly candidate: string; readonly distance: number }[] = []
  for (const candidate of known) {
    const most = Math.min(MOST_EDITS, Math.ceil(Math.max(wanted.length, candidate.length) / 3))
    if (Math.abs(candidate.length - wanted.length) > most) continue
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance <= most) scored.push({ candidate, distance })
  }
  scored.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
  return scored.slice(0, count).map(({ candidate }) => candidate)
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1)
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
