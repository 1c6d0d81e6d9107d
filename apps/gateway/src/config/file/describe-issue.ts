// Not from the whole of it, which brings graphql: a config that cannot be used is reported before that is loaded.
import { nearestNames } from '@vinyasa/core'
import type { z } from 'zod'
import { formatPath } from '../../errors.ts'
import { definitionOf } from '../definition.ts'

/** Something in a config that the schema does not take. */
export interface Mistake {
  readonly path: readonly PropertyKey[]
  /** Says what was found and what is expected. */
  readonly text: string
  /** Whether it is about the name at the end of the path, not about the value. */
  readonly isName?: boolean | undefined
}

type Issue = z.core.$ZodIssue

/** All findings of a validation. */
export function describeIssues(issues: readonly Issue[], schema: z.ZodType): readonly Mistake[] {
  const described = issues.flatMap((issue) => describeIssue(issue, [], schema))
  // A name that is misspelled is missing under the right one too: what was written says all.
  const meant = new Set(described.flatMap(({ meant: names = [] }) => names))
  return described.filter(({ path, isMissing }) => !(isMissing && meant.has(formatPath(path))))
}

interface Described extends Mistake {
  readonly isMissing?: boolean
  /** Paths of settings that a misspelled one stands for. */
  readonly meant?: readonly string[]
}

function describeIssue(issue: Issue, above: readonly PropertyKey[], schema: z.ZodType): Described[] {
  const path = [...above, ...issue.path]
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = settingsAt(schema, path)
      return issue.keys.map((key) => describeUnknown(key, path, known))
    }
    case 'invalid_union': {
      const { discriminator } = issue
      if (discriminator !== undefined) return [{ path, text: describeKinds(schema, path) }]
      const inside = alternativeMeant(issue.errors)
      if (inside) return inside.flatMap((inner) => describeIssue(inner, path, schema))
      const texts = issue.errors.flat().map((one) => textOf(one).replace(/^Invalid option: /, ''))
      // Each alternative names what was received.
      const received = texts.map((text) => /, received \w+$/.exec(text)?.[0]).findLast(Boolean) ?? ''
      const [first, ...others] = new Set(texts.map((text) => text.replace(/, received \w+$/, '')))
      const more = others.map((text) => text.replace(/^expected /, ''))
      return [{ path, text: [first, ...more].join(', or ') + received }]
    }
    default: {
      const isMissing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined')
      return [{ path, text: textOf(issue), isMissing }]
    }
  }
}

function describeUnknown(key: string, path: readonly PropertyKey[], known: readonly string[]): Described {
  const [close] = nearestNames(key, known, 1)
  return {
    path: [...path, key],
    isName: true,
    text: `unknown setting; ${close ? `did you mean ${close}?` : `expected one of ${known.join(', ')}`}`,
    meant: close ? [formatPath([...path, close])] : [],
  }
}

/** What the setting at a path may be that tells which of several objects it is in. */
function describeKinds(schema: z.ZodType, path: readonly PropertyKey[]): string {
  const name = String(path.at(-1))
  const { options = [] } = definitionOf(schemaAt(schema, path.slice(0, -1))) ?? {}
  const kinds = options.flatMap((option) => definitionOf(definitionOf(option)?.shape?.[name])?.values ?? [])
  return `expected one of ${kinds.map((kind) => JSON.stringify(kind)).join('|')}`
}

/** The alternative whose kind of value it is, where mistakes are only inside; of several the one with the fewest. */
function alternativeMeant(alternatives: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const inside = alternatives.filter((issues) =>
    issues.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'),
  )
  return inside.toSorted((a, b) => a.length - b.length)[0]
}

function textOf({ message }: Issue): string {
  return message.replace(/^Invalid input: /, '')
}

/** The names of the settings that the schema knows at a path; empty where it cannot tell. */
function settingsAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const current = schemaAt(schema, path)
  const shapes = (definitionOf(current)?.options ?? [current]).map(
    (option) => definitionOf(option)?.shape ?? {},
  )
  return shapes.flatMap((shape) => Object.keys(shape))
}

function schemaAt(schema: z.ZodType, path: readonly PropertyKey[]): unknown {
  let current: unknown = schema
  for (const part of path) {
    const definition = definitionOf(current)
    current = definition?.shape?.[String(part)] ?? definition?.valueType ?? definition?.element
  }
  return current
}
