import { createPartStream, type PartStream, STREAM_HEADERS, type StreamFormat } from '@vinyasa/core/pipeline'
import type { Timers } from '../options.ts'
import type { Part } from '../parts.ts'
import type { MultipartDelivery } from './accept.ts'
import { createWireFormatter, type MaskError, stringifyPart, type WirePart } from './wire-format.ts'

export interface MultipartInput {
  readonly parts: AsyncIterable<unknown>
  readonly delivery: MultipartDelivery
  readonly boundary: string
  readonly maskError: MaskError
  readonly clock: Timers
}

/** Creates the head and the body of the response that carries the parts. */
export function createMultipart({ parts, delivery, boundary, maskError, clock }: MultipartInput): PartStream {
  const iterator = parts[Symbol.asyncIterator]()
  const format = createWireFormatter(delivery.format, maskError)
  const write = (wirePart: WirePart, part?: unknown) => {
    const { json, hasNext } = stringifyPart(wirePart, maskError)
    return { json, isLast: !hasNext, part }
  }
  // Clients wait for the closing delimiter, also if the source fails or ends without a last part.
  const closing = () => write({ hasNext: false })
  return createPartStream(
    multipartFormat(delivery, boundary),
    {
      next: () =>
        iterator
          .next()
          .then(({ done, value }) => (done ? closing() : write(format(value as Part), value)), closing),
      leave: () => void iterator.return?.().catch(() => undefined),
    },
    clock,
  )
}

/**
 * Clients look for the delimiter to find the end of a part, so each part is one write that ends in the next delimiter. The
 * last part ends in the closing one.
 */
export function multipartFormat({ parameter }: MultipartDelivery, boundary: string): StreamFormat {
  const delimiter = `\r\n--${boundary}`
  return {
    headers: {
      ...STREAM_HEADERS,
      'Content-Type': `multipart/mixed; boundary="${boundary}"${parameter === undefined ? '' : `; ${parameter}`}`,
      'Cache-Control': 'no-cache, no-store, no-transform',
      Incremental: '?1',
    },
    open: `${delimiter}\r\n`,
    before: 'Content-Type: application/json; charset=utf-8\r\n\r\n',
    after: `${delimiter}\r\n`,
    last: `${delimiter}--\r\n`,
    end: '',
    failed: '',
    // Every complete message is a result for some clients.
    heartbeat: undefined,
  }
}
