import { BadStatus } from './attempt.ts'
import { BadResponse } from './failures.ts'
import type { UpstreamDetails } from '../errors.ts'
import type { Home, WireRequest } from './transport.ts'
import type { Args } from '../templates/template.ts'

const REDACTED = '[redacted]'
/** Shorter ones are found everywhere, and are no secrets. */
const LEAST_LENGTH = 4
/** The headers that the connector itself writes, the same for all. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['accept', 'accept-encoding', 'content-type'])

/**
 * Tells where a request went and what was answered, for `exposeErrors`. Nothing is guessed from a name: of
 * the request only the method, and the address and path as they are declared, are told; no query, no header.
 * Values of its headers, cookies and query, and of a path that an interceptor changed, are taken out of the
 * answer and of the reason in `cause` too, unless they are arguments. `template` is the endpoint's path with its variables in
 * braces, `rendered` the request that the endpoint's templates make, and `sent` the one that interceptors have changed.
 */
export function tellFailure(
  { base, basePath }: Home,
  template: string,
  args: Args,
  rendered: WireRequest,
  sent: WireRequest,
  error: unknown,
): { readonly upstream: UpstreamDetails; readonly cause: unknown } {
  const secrets = secretsOf(args, rendered, sent)
  return {
    upstream: {
      method: sent.method,
      url: `${base.origin}${basePath}${template}`,
      ...(error instanceof BadStatus && { body: withoutSecrets(error.excerpt, secrets) }),
    },
    // The reason can contain text from the upstream.
    cause: error instanceof BadResponse ? new BadResponse(withoutSecrets(error.message, secrets)) : error,
  }
}

/** Longest first: one may hold another. */
function secretsOf(args: Args, rendered: WireRequest, sent: WireRequest): readonly string[] {
  const pieces = new Set<string>()
  for (const [name, value] of Object.entries(sent.headers))
    if (!OWN_HEADERS.has(name.toLowerCase())) for (const piece of piecesOfHeader(value)) pieces.add(piece)
  const [path = '', ...query] = sent.path.split('?')
  for (const pair of query.join('?').split('&')) pieces.add(pair.slice(pair.indexOf('=') + 1))
  const [ownPath = ''] = rendered.path.split('?')
  const own = new Set(ownPath.split('/'))
  for (const segment of path.split('/')) if (!own.has(segment)) pieces.add(segment)

  const forms = new Set([...pieces].flatMap(formsOf))
  for (const text of textsIn(args)) for (const form of formsOf(text)) forms.delete(form)
  return [...forms].filter(({ length }) => length >= LEAST_LENGTH).toSorted((a, b) => b.length - a.length)
}

/** Returns the leaves of arguments as texts, however deep they stand. */
function textsIn(args: Args): Set<string> {
  const texts = new Set<string>()
  const left: unknown[] = [args]
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) left.push(part)
    else texts.add(String(value))
  }
  return texts
}

/** A header's value whole, its words, and what Basic credentials are made of (RFC 7617). */
function piecesOfHeader(value: string): string[] {
  const words = value.split(/[\s,;]+/).flatMap((word) => [word, word.slice(word.indexOf('=') + 1)])
  const [, basic] = /^basic\s+(\S+)$/i.exec(value) ?? []
  const credentials = basic === undefined ? '' : Buffer.from(basic, 'base64').toString('utf8')
  const colon = credentials.indexOf(':')
  return [
    value,
    ...words,
    credentials,
    credentials.slice(0, Math.max(colon, 0)),
    credentials.slice(colon + 1),
  ]
}

/** Returns a piece as it is and decoded, and both of these percent-encoded and as JSON writes them. */
function formsOf(piece: string): string[] {
  const decoded = coded(piece, (text) => decodeURIComponent(text.replaceAll('+', ' ')))
  return [piece, decoded].flatMap((form) => [
    form,
    coded(form, encodeURIComponent),
    JSON.stringify(form).slice(1, -1),
  ])
}

/** The text itself where it cannot be coded. */
function coded(text: string, code: (text: string) => string): string {
  try {
    return code(text)
  } catch {
    return text
  }
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  let told = text
  for (const secret of secrets) told = told.replaceAll(secret, REDACTED)
  // The text may have been cut within one.
  for (const secret of secrets)
    for (let length = secret.length - 1; length >= LEAST_LENGTH; length--)
      if (told.endsWith(secret.slice(0, length))) return told.slice(0, -length) + REDACTED
  return told
}
