import type { MetadataEntries } from './transport.ts'

/** `Buffer.from` is slow, and a header can consist of commas. */
const NOTHING = Buffer.alloc(0)

/** Whether a header of a reply belongs to HTTP or gRPC itself, and so is no metadata. */
function isReserved(name: string): boolean {
  return name.startsWith(':') || name.startsWith('grpc-') || name === 'content-type'
}

/**
 * Returns the custom metadata of a reply, without HTTP and gRPC headers. Values of `-bin` names can be bytes or
 * base64.
 */
export function toReplyMetadata(
  fields: Iterable<readonly [name: string, value: string | Uint8Array]>,
): MetadataEntries {
  const entries: [string, string | Uint8Array][] = []
  for (const [name, value] of fields) {
    if (isReserved(name)) continue
    if (!name.endsWith('-bin') || typeof value !== 'string') entries.push([name, value])
    // Several values may have been joined on the way.
    else
      for (const part of value.split(','))
        entries.push([name, part === '' ? NOTHING : Buffer.from(part, 'base64')])
  }
  return entries
}
