/** Limits for JSON from other parties. */
export interface JsonLimits {
  /** Maximum nesting of objects and lists. */
  readonly maxDepth: number
  /** Maximum number of object properties and list items in total. An empty object or list counts as one. */
  readonly maxItems: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Number of bytes that are scanned one by one. Longer strings are searched with `indexOf`. */
const SHORT_TEXT = 32

/** Kinds of JSON bytes. */
export const JsonByte = { COMMA: 1, OPEN: 2, CLOSE: 3, TEXT: 4 } as const

/** Kind of each byte value outside of strings, from `JsonByte`. */
export const kindOf: Uint8Array = new Uint8Array(256)
kindOf[QUOTE] = JsonByte.TEXT
kindOf[0x2c] = JsonByte.COMMA
kindOf[0x5b] = kindOf[0x7b] = JsonByte.OPEN
kindOf[0x5d] = kindOf[0x7d] = JsonByte.CLOSE

/**
 * Returns the limit that JSON exceeds, before it is parsed. Code that recurses over the parsed value is then safe.
 * Invalid JSON is not detected.
 */
export function exceededLimit(
  bytes: Uint8Array,
  { maxDepth, maxItems }: JsonLimits,
): keyof JsonLimits | undefined {
  const { length } = bytes
  if (length <= maxDepth && length <= maxItems) return undefined
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, length)
  let depth = 0
  let items = 0
  for (let index = 0; index < length; index++) {
    switch (kindOf[buffer[index] as number]) {
      case JsonByte.TEXT:
        index = endOfText(buffer, index)
        break
      case JsonByte.COMMA:
        if (++items > maxItems) return 'maxItems'
        break
      case JsonByte.OPEN:
        if (++depth > maxDepth) return 'maxDepth'
        if (++items > maxItems) return 'maxItems'
        break
      case JsonByte.CLOSE:
        depth--
    }
  }
  return undefined
}

/** JSON up to this number of characters is not counted, because it cannot be harmfully deep or large. */
const HARMLESS_LENGTH = 4_096
const PEER_LIMITS: JsonLimits = { maxDepth: 20_000, maxItems: 100_000 }

/**
 * Parses JSON from a peer. Brackets and items are counted first, because `JSON.parse` takes 100 ns per bracket.
 * @throws SyntaxError for invalid JSON, and for JSON with more than 20,000 levels or 100,000 items
 */
export function parsePeerJson(text: string): unknown {
  const exceeded = text.length > HARMLESS_LENGTH && exceededLimit(Buffer.from(text), PEER_LIMITS)
  if (exceeded)
    throw new SyntaxError(
      `the JSON has more than ${PEER_LIMITS[exceeded]} ${exceeded === 'maxDepth' ? 'levels' : 'items'}`,
    )
  return JSON.parse(text)
}

/** Maximum bytes of a message from a broker. NATS has the same default. */
export const MAX_BROKER_BYTES: number = 1024 * 1024

/** Parses JSON from a broker. Returns `undefined` for invalid JSON and for messages over the limits. */
export function parseBrokerJson(bytes: Uint8Array): unknown {
  if (bytes.length > MAX_BROKER_BYTES || exceededLimit(bytes, PEER_LIMITS)) return undefined
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString())
  } catch {
    return undefined
  }
}

/** Returns the position of the quote that closes a string. */
export function endOfText(bytes: Buffer, quote: number): number {
  let at = quote + 1
  const near = Math.min(bytes.length, at + SHORT_TEXT)
  while (at < near) {
    if (bytes[at] === QUOTE) return at
    at += bytes[at] === BACKSLASH ? 2 : 1
  }
  for (let from = at; ;) {
    const end = bytes.indexOf(QUOTE, from)
    if (end === -1) return bytes.length
    let escapes = end
    while (escapes > at && bytes[escapes - 1] === BACKSLASH) escapes--
    if ((end - escapes) % 2 === 0) return end
    from = end + 1
  }
}
