/** One entry of an `Accept` header. */
export interface MediaRange {
  /** Media type in lower case. `*` matches any part. */
  readonly type: string
  /** Parameters, including `q`. Names are lower case; values are unchanged. */
  readonly parameters: ReadonlyMap<string, string>
  /** Quality from 0 to 1. 0 means that the client refuses the type. */
  readonly quality: number
}

/**
 * Returns the media ranges of an `Accept` header in their order, including refused types (RFC 9110, section 12.5.1).
 */
export function parseAccept(accept: string | null | undefined): readonly MediaRange[] {
  return headerList(accept ?? '')
    .map(parseRange)
    .filter(({ type }) => type !== '')
}

/**
 * Returns the trimmed elements of a list header (RFC 9110, section 5.6.1). Commas in quoted strings do not separate
 * elements.
 */
export function headerList(text: string): readonly string[] {
  return cut(text, OUTSIDE_COMMAS)
}

/**
 * Patterns for the text up to the next separator outside of quoted strings. A string without a closing quote
 * extends to the end, so both patterns take linear time.
 */
const OUTSIDE_COMMAS = /(?:[^",]|"(?:\\.|[^"\\])*"?)+/g
const OUTSIDE_SEMICOLONS = /(?:[^";]|"(?:\\.|[^"\\])*"?)+/g

const cut = (text: string, pieces: RegExp): readonly string[] =>
  (text.match(pieces) ?? []).map((piece) => piece.trim())

function parseRange(entry: string): MediaRange {
  const [type = '', ...pieces] = cut(entry, OUTSIDE_SEMICOLONS)
  const parameters = new Map<string, string>()
  for (const piece of pieces) {
    const at = piece.includes('=') ? piece.indexOf('=') : piece.length
    const name = piece.slice(0, at).trim().toLowerCase()
    parameters.set(name, unquoted(piece.slice(at + 1).trim()))
  }
  const quality = Number(parameters.get('q') ?? 1)
  return { type: type.toLowerCase(), parameters, quality: quality >= 0 ? Math.min(quality, 1) : 0 }
}

const unquoted = (text: string): string =>
  text.startsWith('"') ? text.slice(1).replace(/"$/, '').replaceAll(/\\(.)/g, '$1') : text

/** Media types of complete GraphQL responses. */
const JSON_TYPES = ['application/json', 'application/graphql-response+json']

/**
 * Returns the quality of a complete JSON response for the client. 0 means that it is refused. A range that
 * names one of the two GraphQL response types applies to both.
 */
export function jsonQuality(accepted: readonly MediaRange[]): number {
  const of = (types: readonly string[]): readonly MediaRange[] =>
    accepted.filter(({ type }) => types.includes(type))
  const best = (ranges: readonly MediaRange[]): number => Math.max(0, ...ranges.map(({ quality }) => quality))
  const named = of(JSON_TYPES)
  const isRefused = JSON_TYPES.every((json) => named.some(({ type }) => type === json))
  if (best(named) > 0 || isRefused) return best(named)
  const wide = of(['application/*'])
  return best(wide.length > 0 ? wide : of(['*/*']))
}

const MAX_HEADERS = 100
const MAX_HEADER_LENGTH = 256

/**
 * Caches the value that `make` returns for a header. The cache holds the first 100 headers of up to 256 characters,
 * because clients can send any header.
 */
export function keyedByHeader<Value>(make: (header: string) => Value): (header: string) => Value {
  const known = new Map<string, Value>()
  return (header) => {
    const before = known.get(header)
    if (before !== undefined || known.has(header)) return before as Value
    const value = make(header)
    if (known.size < MAX_HEADERS && header.length <= MAX_HEADER_LENGTH) known.set(header, value)
    return value
  }
}
