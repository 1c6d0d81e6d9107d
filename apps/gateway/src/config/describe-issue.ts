import type { z } from 'zod'
import { definitionOf } from './definition.ts'

/** One line for one finding of the validation: the path in the config, what was found, what was expected. */
export function describeIssue(issue: z.core.$ZodIssue, schema: z.ZodType): string {
  const path = formatPath(issue.path)
  switch (issue.code) {
    case 'unrecognized_keys': {
      const [key = ''] = issue.keys
      const known = settingsAt(schema, issue.path)
      const close = closest(key, known)
      const mend = close ? `did you mean ${close}?` : `expected one of ${known.join(', ')}`
      return `${formatPath([...issue.path, key])}: unknown setting; ${mend}`
    }
    case 'invalid_union': {
      const described = issue.errors.flat().map((inner) => inner.message.replace(/^Invalid input: /, ''))
      return `${path}: ${[...new Set(described)].join(', or ')}`
    }
    default:
      return `${path}: ${issue.message.replace(/^Invalid input: /, '')}`
  }
}

function formatPath(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'config'
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index ? '.' : ''}${String(part)}`))
    .join('')
}

/** The names of the settings that the schema knows at a path; empty where it cannot tell. */
function settingsAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let current: unknown = schema
  for (const part of path) {
    const definition = definitionOf(current)
    current = definition?.shape?.[String(part)] ?? definition?.valueType ?? definition?.element
  }
  const shapes = (definitionOf(current)?.options ?? [current]).map(
    (option) => definitionOf(option)?.shape ?? {},
  )
  return shapes.flatMap((shape) => Object.keys(shape))
}

/** The known name within two edits of a mistyped one (or the same name in another case). */
function closest(name: string, known: readonly string[]): string | undefined {
  const scored = known.map((candidate) => ({
    candidate,
    distance: editDistance(name.toLowerCase(), candidate.toLowerCase()),
  }))
  scored.sort((a, b) => a.distance - b.distance)
  const [best] = scored
  return best && best.distance <= 2 ? best.candidate : undefined
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
