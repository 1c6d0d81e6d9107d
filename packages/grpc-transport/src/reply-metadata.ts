import type { MetadataEntries } from './transport.ts'

/** Whether a header of a reply belongs to HTTP or gRPC itself, and so is no metadata. */
function isReserved(name: string): boolean {
  return name.startsWith(':') || name.startsWith('grpc-') || name === 'content-type'
}

/** A reply's metadata: what a server's author put there. Bytes come as they are, or as base64 as the wire has them. */
export function toReplyMetadata(
  fields: Iterable<readonly [name: string, value: string | Uint8Array]>,
): MetadataEntries {
  const entries: [string, string | Uint8Array][] = []
  for (const [name, value] of fields) {
    if (isReserved(name)) continue
    if (!name.endsWith('-bin') || typeof value !== 'string') entries.push([name, value])
    // Several values may have been joined on the way.
    else for (const part of value.split(',')) entries.push([name, Buffer.from(part, 'base64')])
  }
  return entries
}
