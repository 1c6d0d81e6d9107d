import { systemClock } from '@vinyasa/core'
import { errorsOf } from '../limits/errors.ts'
import { labelOf } from './operation.ts'

/** Errors of one kind, as far as an operator may see them: no message, no value, no header. */
export interface RecentError {
  /** Milliseconds since the Unix epoch, of the last one. */
  readonly at: number
  /** `extensions.code`. */
  readonly code: string
  /** Name of the operation, or its type; null when it was refused before it ran. */
  readonly operation: string | null
  /** Response names down to the field, list positions as `[]`; null where the error belongs to no field. */
  readonly path: string | null
  /** How many there were. */
  readonly count: number
}

export interface RecentErrors {
  /** Notes the errors of a result or of one of its patches. */
  note(result: unknown, operation: string | undefined): void
  /** The last kinds, the last one first. */
  list(): readonly RecentError[]
  /** How many errors there were, those of kinds that are listed no more among them. */
  total(): number
}

const MAX_KINDS = 20
const MAX_NAME = 80

export interface ErrorLike {
  readonly message: string
  readonly path?: readonly (string | number)[] | undefined
  readonly extensions?: Readonly<Record<string, unknown>> | undefined
}

/**
 * The last kinds of error that clients were answered with. Messages are left out: they may quote variables, and what
 * a backend said.
 */
export function createRecentErrors(now: () => number = systemClock.wallNow): RecentErrors {
  const kinds = new Map<string, RecentError>()
  let total = 0

  function noteOne(error: ErrorLike, operation: string | null): void {
    total++
    const code = codeOf(error)
    const path = pathOf(error)
    const key = JSON.stringify([code, operation, path])
    const count = (kinds.get(key)?.count ?? 0) + 1
    // A map keeps the order of insertion: the last one noted goes to its end.
    kinds.delete(key)
    kinds.set(key, { at: now(), code, operation, path, count })
    const [oldest] = kinds.keys()
    if (kinds.size > MAX_KINDS && oldest !== undefined) kinds.delete(oldest)
  }

  return {
    note(result, operation) {
      const name = operation?.slice(0, MAX_NAME) ?? null
      for (const error of errorsIn(result)) noteOne(error, name)
    },
    list: () => [...kinds.values()].toReversed(),
    total: () => total,
  }
}

/** Returns the errors of the result itself and of the patches in it. */
export function errorsIn(result: unknown): readonly ErrorLike[] {
  const own: readonly ErrorLike[] = errorsOf(result)
  const { incremental } = Object(result) as { readonly incremental?: unknown }
  return Array.isArray(incremental) ? [...own, ...incremental.flatMap(errorsIn)] : own
}

function codeOf({ extensions }: ErrorLike): string {
  const code = extensions?.['code']
  return code === undefined ? 'INTERNAL_SERVER_ERROR' : labelOf(code)
}

function pathOf({ path }: ErrorLike): string | null {
  if (!path || path.length === 0) return null
  const text = path.map((key) => (typeof key === 'number' ? '[]' : `.${key}`)).join('')
  return text.replace(/^\./, '').slice(0, MAX_NAME)
}
