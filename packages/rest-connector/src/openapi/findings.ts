import { escapeStep } from './openapi-document.ts'

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
  readonly #folded = new Map<string, { readonly place: string; readonly count: number }>()

  add(finding: OpenApiFinding): void {
    this.#all.set(`${finding.place} ${finding.message}`, finding)
  }

  /** Adds what is true of many places as one finding, at the first of them. */
  fold(place: string, message: string): void {
    const { count } = this.#folded.get(message) ?? { count: 0 }
    this.#folded.set(message, { place: this.#folded.get(message)?.place ?? place, count: count + 1 })
  }

  list(): readonly OpenApiFinding[] {
    const folded = [...this.#folded].map(([message, { place, count }]) => ({
      place,
      message: count === 1 ? message : `${message} (${count} times, here first)`,
    }))
    return [...this.#all.values(), ...folded]
  }
}

/** A JSON pointer of steps. */
export function pointerOf(...steps: readonly string[]): string {
  return `#${steps.map((step) => `/${escapeStep(step)}`).join('')}`
}

/** A finding as one line. */
export function describeFinding({ place, message, mend }: OpenApiFinding): string {
  return `${place}: ${message}${mend === undefined ? '' : `; ${mend}`}`.replaceAll(/[\r\n]+/g, ' ')
}
