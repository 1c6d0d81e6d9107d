import { keyed } from '@vinyasa/core'
import { OutBuffer } from '../http2/out-buffer.ts'
import type { MetadataEntries } from '../transport.ts'

/** The part of a request's header block that all calls of a method share. */
export type HeadBlock = (path: string) => Uint8Array

/** Entries of HPACK's static table (RFC 7541, appendix A): as they are, and as names for values of one's own. */
const METHOD_POST = 0x83
const SCHEME = { http: 0x86, https: 0x87 }
const AUTHORITY = 1
const PATH = 4

export function createHeadBlock(scheme: 'http' | 'https', authority: string): HeadBlock {
  return keyed((path: string) => {
    const out = new OutBuffer()
    out.byte(METHOD_POST)
    out.byte(SCHEME[scheme])
    out.byte(AUTHORITY)
    out.text(checked(':authority', authority))
    out.byte(PATH)
    out.text(checked(':path', path))
    out.field('te', 'trailers')
    out.field('content-type', 'application/grpc')
    out.field('user-agent', 'grpc-node-vinyasa')
    out.field('grpc-accept-encoding', 'identity,deflate,gzip')
    return out.take()
  })
}

/** HTTP/2 has no headers that belong to a connection (RFC 9113, section 8.2.2). */
const FORBIDDEN: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'te',
])

/** @throws Error for what HTTP/2 cannot carry */
export function writeFields(out: OutBuffer, metadata: MetadataEntries): void {
  for (const [name, value] of metadata) {
    if (FORBIDDEN.has(name) || !/^[!#-'*+.^`|~0-9_a-z-]+$/.test(name))
      throw new Error(`HTTP/2 does not allow the header "${name}"`)
    const text = typeof value === 'string' ? checked(name, value) : Buffer.from(value).toString('base64')
    // No proxy is to keep credentials in a table that others may probe.
    out.field(name, text, name === 'authorization')
  }
}

function checked(name: string, value: string): string {
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return value
  throw new Error(`the value of the header "${name}" contains characters that HTTP does not allow`)
}
