import type { CORSOptions } from 'graphql-yoga'
import { z } from 'zod'
import type { CorsConfig, GraphqlConfig } from './http-types.ts'

export type CorsSetting = NonNullable<GraphqlConfig['cors']>

/** Headers that a page of another origin may read. */
const EXPOSED = ['x-request-id', 'x-cache', 'age']
/** Limit of an origin's length: a host has 253 at most (RFC 1035). Patterns are not tried on more. */
const MAX_ORIGIN_CHARACTERS = 300
const PATTERN = /^\/(.+)\/(i?)$/

/** Returns whether pages of an origin are listed; `*` is ignored. A string between slashes is a pattern of complete origins. */
export function createOriginList(origins: CorsConfig['origins']): (origin: string) => boolean {
  const listed = new Set<string>()
  const patterns: RegExp[] = []
  for (const origin of origins) {
    const pattern = toPattern(origin)
    if (pattern) patterns.push(pattern)
    else listed.add(String(origin))
  }
  return (origin) =>
    listed.has(origin) ||
    (origin.length <= MAX_ORIGIN_CHARACTERS && patterns.some((pattern) => pattern.test(origin)))
}

/** Undefined for an origin itself. Throws a `SyntaxError` for what is no pattern. */
export function toPattern(origin: string | RegExp): RegExp | undefined {
  const [source, flags] =
    typeof origin === 'string'
      ? [PATTERN.exec(origin)?.[1], PATTERN.exec(origin)?.[2]]
      : [origin.source, origin.flags.replaceAll(/[gy]/g, '')]
  return source === undefined ? undefined : new RegExp(`^(?:${source})$`, flags)
}

/** An origin whose pages may ask, or a pattern of them. */
export const origin: z.ZodType<string | RegExp> = z
  .union([z.string(), z.instanceof(RegExp)])
  .refine(isOrigin, {
    error:
      'expected "*", an origin as browsers send it, such as "https://app.example" (in lower case, without a path or default port), or a regular expression between slashes',
  })

function isOrigin(value: string | RegExp): boolean {
  if (typeof value !== 'string') return true
  try {
    if (value === '*' || toPattern(value) !== undefined) return true
    const { origin: sent } = new URL(value)
    // How clients send an origin whose scheme is no browser's own, such as an app's, is not known.
    return sent === 'null'
      ? /^[a-z][a-z0-9+.-]*:\/\/[^/\s?#@*]+$/.test(value)
      : sent === value && !sent.includes('*')
  } catch {
    return false
  }
}

/** The origins of a setting, whichever form it has. */
export function originsOf(cors: CorsSetting): CorsConfig['origins'] {
  if (cors === false) return []
  return 'origins' in cors ? cors.origins : cors
}

/**
 * Yoga's CORS for the listed origins, and none at all for every other. Given the list itself Yoga would answer the
 * others with its only entry, or with `null`, which is the origin of a sandboxed frame.
 */
export function corsFor(cors: CorsSetting): false | ((request: Request) => CORSOptions) {
  if (cors === false) return false
  const settings: Partial<CorsConfig> = 'origins' in cors ? cors : {}
  const { credentials = true, exposedHeaders = EXPOSED, maxAgeSeconds } = settings
  const isListed = createOriginList(originsOf(cors))
  const isAny = originsOf(cors).includes('*')
  const others: Exclude<CORSOptions, false> = {
    exposedHeaders: [...exposedHeaders],
    ...(maxAgeSeconds !== undefined && { maxAge: maxAgeSeconds }),
  }
  return (request) => {
    const origin = request.headers.get('origin')
    if (origin === null) return false
    if (isListed(origin)) return { origin, credentials, ...others }
    return isAny ? { origin: '*', credentials: false, ...others } : false
  }
}
