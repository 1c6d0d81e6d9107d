export interface RawPart {
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
}

export interface PartParser {
  /** Takes bytes as they come and returns the parts that they completed. */
  push(chunk: Buffer): RawPart[]
  /** Whether the closing delimiter has been seen. */
  isClosed(): boolean
}

/**
 * RFC 2046: a part ends at the next delimiter (line break, two hyphens, boundary), not before.
 * Strict on purpose, because it is used to check what servers send. Without a boundary it finds no parts.
 */
export function createPartParser(boundary: string | undefined): PartParser {
  const delimiter = Buffer.from(`\r\n--${boundary ?? ''}`)
  // The first delimiter may stand at the very start, without the line break.
  let buffered: Buffer = Buffer.from('\r\n')
  let inPart = false
  let closed = boundary === undefined

  return {
    isClosed: () => boundary !== undefined && closed,
    push(chunk) {
      const parts: RawPart[] = []
      buffered = Buffer.concat([buffered, chunk])
      while (!closed) {
        const at = buffered.indexOf(delimiter)
        const after = at + delimiter.length
        // Two more bytes tell an ordinary delimiter from the closing one.
        if (at < 0 || buffered.length < after + 2) break
        if (inPart) parts.push(parsePart(buffered.subarray(0, at)))
        const suffix = buffered.toString('latin1', after, after + 2)
        if (suffix === '--') closed = true
        else if (suffix !== '\r\n') throw new Error(`Bytes after a delimiter: ${JSON.stringify(suffix)}`)
        inPart = true
        // The line break after the delimiter stays: a part without headers starts with it.
        buffered = buffered.subarray(after)
      }
      return parts
    },
  }
}

/** `bytes` starts with the line break that ended the delimiter's line. */
function parsePart(bytes: Buffer): RawPart {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) throw new Error(`A part without an empty line after its headers: ${bytes.toString('utf8')}`)
  const headers: Record<string, string> = {}
  for (const line of bytes.toString('latin1', 2, Math.max(2, end)).split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  return { headers, bytes: bytes.subarray(end + 4) }
}
