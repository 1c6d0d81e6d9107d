import { escapeStep } from './openapi-document.ts'

/** A part of a document that the import omitted or changed. */
export interface OpenApiFinding {
  /** A JSON pointer into the document: `#/paths/~1pets/delete`. */
  readonly place: string
  /** What is omitted, and why. */
  readonly message: string
  /** How to fix it. */
  readonly fix?: string | undefined
}

/** Collects the findings of an import, without duplicates. */
export class Findings {
  readonly #all = new Map<string, OpenApiFinding>()
  readonly #folded = new Map<string, { readonly place: string; readonly count: number }>()

  add(finding: OpenApiFinding): void {
    this.#all.set(`${finding.place} ${finding.message}`, finding)
  }

  /** Adds one finding for many places, at the first place. */
  fold(place: string, message: string): void {
    const { count } = this.#folded.get(message) ?? { count: 0 }
    this.#folded.set(message, { place: this.#folded.get(message)?.place ?? place, count: count + 1 })
  }

  list(): readonly OpenApiFinding[] {
    const folded = [...this.#folded].map(([message, { place, count }]) => ({
      place,
      message: count === 1 ? message : `${message} (occurs ${count} times; only the first is shown)`,
    }))
    return [...this.#all.values(), ...folded]
  }
}

/** Returns a JSON pointer. */
export function pointerOf(...steps: readonly string[]): string {
  return `#${steps.map((step) => `/${escapeStep(step)}`).join('')}`
}

/** Formats a finding as one line. */
export function describeFinding({ place, message, fix }: OpenApiFinding): string {
  return `${place}: ${message}${fix === undefined ? '' : `; ${fix}`}`.replaceAll(/[\r\n]+/g, ' ')
}
