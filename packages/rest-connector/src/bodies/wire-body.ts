/** Bytes that are read as they are sent. */
export interface StreamedBody {
  /** Bytes in all; undefined: nobody knows before the end. */
  readonly size: number | undefined
  /** Whether `open` may be called again, for another attempt. */
  readonly isRepeatable: boolean
  open(): AsyncIterable<Uint8Array>
}

export type WireBody = string | StreamedBody

export function isStreamed(body: WireBody | undefined): body is StreamedBody {
  return typeof body === 'object'
}
