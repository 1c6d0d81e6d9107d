/** One entry of an Accept header: what a client takes, and how gladly. */
export interface MediaRange {
  /** In lower case; `*` stands for any part. */
  readonly type: string
  /** Names in lower case, values as they came; `q` among them. */
  readonly parameters: ReadonlyMap<string, string>
  /** Above 0, at most 1. */
  readonly quality: number
}

/**
 * Lists the media ranges that an Accept header takes, in its order (RFC 9110, section 12.5.1). A range whose
 * quality is 0 is refused, and not among them.
 */
export function parseAccept(accept: string | null | undefined): readonly MediaRange[] {
  return (accept ?? '')
    .split(',')
    .map(parseRange)
    .filter(({ type, quality }) => type !== '' && quality > 0)
}

function parseRange(entry: string): MediaRange {
  const [type = '', ...pieces] = entry.split(';').map((piece) => piece.trim())
  const parameters = new Map<string, string>()
  for (const piece of pieces) {
    const [name = '', value = ''] = piece.replaceAll('"', '').split('=', 2)
    parameters.set(name.trim().toLowerCase(), value.trim())
  }
  const quality = Number(parameters.get('q') ?? 1)
  return { type: type.toLowerCase(), parameters, quality: quality >= 0 ? Math.min(quality, 1) : 0 }
}

/** Types of a whole GraphQL answer, the most specific ranges first: those decide. */
const JSON_RANGES = [
  ['application/json', 'application/graphql-response+json'],
  ['application/*'],
  ['*/*'],
] as const

/** How gladly a client takes a whole GraphQL answer; 0: not at all. */
export function jsonQuality(accepted: readonly MediaRange[]): number {
  for (const types of JSON_RANGES) {
    const matching = accepted.filter(({ type }) => types.some((one) => one === type))
    if (matching.length > 0) return Math.max(...matching.map(({ quality }) => quality))
  }
  return 0
}
