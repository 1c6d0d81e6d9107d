/** One thing of a document that the import left out, or took otherwise than it is written. */
export interface OpenApiFinding {
  /** A JSON pointer into the document: `#/paths/~1pets/delete`. */
  readonly place: string
  /** The text that says what is left out, and why. */
  readonly message: string
  /** How to get it after all. */
  readonly mend?: string | undefined
}

/** The findings of an import as they come; what is said twice is kept once. */
export class Findings {
  readonly #all = new Map<string, OpenApiFinding>()

  add(finding: OpenApiFinding): void {
    this.#all.set(`${finding.place} ${finding.message}`, finding)
  }

  list(): readonly OpenApiFinding[] {
    return [...this.#all.values()]
  }
}

/** A JSON pointer of steps. */
export function pointerOf(...steps: readonly string[]): string {
  return `#${steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')}`
}

/** A finding as one line. */
export function describeFinding({ place, message, mend }: OpenApiFinding): string {
  return `${place}: ${message}${mend === undefined ? '' : `; ${mend}`}`
}
