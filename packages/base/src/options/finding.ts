/** One thing that is wrong in options, or in what they name. */
export interface Finding {
  /** The file it is in, as imported; absent when it comes from the options. */
  readonly file?: string | undefined
  /** The method, message or field, fully qualified. */
  readonly element?: string | undefined
  /** The fault and how to mend it. */
  readonly message: string
  /** The option that it is about, from the options inwards: `['endpoints', 2, 'path']`. Absent: none alone. */
  readonly path?: readonly PropertyKey[] | undefined
  /** Where in the text that the option is it begins, in characters. Absent: the text as a whole. */
  readonly offset?: number | undefined
}

/** A finding as people read it, with where it is in front. */
export function formatFinding({ file, element, message }: Finding): string {
  return [file, element, message].filter((part) => part !== undefined).join(': ')
}

/** What an error says is wrong: its `findings` where it has some, else its message. */
export function findingsOf(error: unknown): readonly Finding[] {
  if (!(error instanceof Error)) return [{ message: String(error) }]
  const { findings = [{ message: error.message }] } = error as { readonly findings?: readonly Finding[] }
  return findings
}

/** Findings of the option at `path`, whose own options those are that they speak of. */
export function findingsAt(path: readonly PropertyKey[], findings: readonly Finding[]): readonly Finding[] {
  return findings.map((one) => ({ ...one, path: [...path, ...(one.path ?? [])] }))
}
