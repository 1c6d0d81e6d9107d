/** Problem in options, or in a file that they refer to. */
export interface Finding {
  /** File that contains the problem, as imported; absent if the problem is in the options. */
  readonly file?: string | undefined
  /** Fully qualified name of the method, message or field. */
  readonly element?: string | undefined
  /** Problem and fix. */
  readonly message: string
  /** Path of the option, for example `['endpoints', 2, 'path']`; absent if no single option is wrong. */
  readonly path?: readonly PropertyKey[] | undefined
  /** Offset of the problem in the option's string, in characters; absent if it concerns the complete string. */
  readonly offset?: number | undefined
}

/** Returns a finding as text, with its file and element first. */
export function formatFinding({ file, element, message }: Finding): string {
  return [file, element, message].filter((part) => part !== undefined).join(': ')
}

/** Returns the `findings` of an error, or its message as one finding. */
export function findingsOf(error: unknown): readonly Finding[] {
  if (!(error instanceof Error)) return [{ message: String(error) }]
  const { findings = [{ message: error.message }] } = error as { readonly findings?: readonly Finding[] }
  return findings
}

/** Returns findings with `path` added in front of their paths. */
export function findingsAt(path: readonly PropertyKey[], findings: readonly Finding[]): readonly Finding[] {
  return findings.map((one) => ({ ...one, path: [...path, ...(one.path ?? [])] }))
}
