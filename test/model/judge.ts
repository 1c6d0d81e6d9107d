import { isDeepStrictEqual } from 'node:util'
import { claimMarks } from './code-side.ts'
import type { Answer } from './ask.ts'
import type { UserHeaders } from './plan.ts'

/** What counts of an answer: data, and where which errors are. */
export interface Judged {
  readonly data: unknown
  readonly errors: readonly string[]
}

export function judged({ data = null, errors = [] }: Answer): Judged {
  return {
    data,
    errors: errors
      .map(
        ({ path, extensions, message }) => `${JSON.stringify(path)} ${String(extensions?.code ?? message)}`,
      )
      .toSorted(),
  }
}

/**
 * Whether a backend was out of reach, which none of them ever says by itself: a machine that does much else kept a
 * connection waiting. Such an answer is not old; it is none.
 */
export const isUnreached = ({ errors = [] }: Answer): boolean =>
  errors.some(({ extensions }) => extensions?.code === 'SERVICE_UNAVAILABLE')

export const isSame = (one: Judged, other: Judged): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)))

/** The marks in an answer that are neither the user's nor the place's. */
export function foreignMarks(answer: unknown, user: UserHeaders, tenant: string): readonly string[] {
  const own: Readonly<Record<string, string | undefined>> = {
    ...user,
    ...claimMarks(user),
    'x-place': tenant,
  }
  const marks = JSON.stringify(answer ?? null).matchAll(/<([a-z-]+)=([^>]*)>/g)
  return [...marks].filter(([, name = '', value]) => (own[name] ?? '') !== value).map(([mark]) => mark)
}
