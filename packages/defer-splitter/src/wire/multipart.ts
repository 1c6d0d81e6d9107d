import type { PartStream, StreamPart } from '@vinyasa/core/pipeline'
import type { FetchAPI } from 'graphql-yoga'
import type { MultipartDelivery } from './accept.ts'
import { createMultipartBody } from './multipart-body.ts'
import type { Part } from '../parts.ts'
import { createWireFormatter, type MaskError, stringifyPart, type WirePart } from './wire-format.ts'

export interface MultipartInput {
  readonly parts: AsyncIterable<unknown>
  readonly delivery: MultipartDelivery
  readonly boundary: string
  readonly maskError: MaskError
}

/**
 * Head and body of the response that carries the parts. Clients look for the delimiter to tell where a part ends, so each
 * part is one write that ends in the next delimiter; the last ends in the closing one.
 */
export function createMultipart({ parts, delivery, boundary, maskError }: MultipartInput): PartStream {
  const iterator = parts[Symbol.asyncIterator]()
  const format = createWireFormatter(delivery.format, maskError)
  let opening = openingOf(boundary)

  function toBodyPart(wirePart: WirePart, part?: unknown): StreamPart {
    const { json, hasNext } = stringifyPart(wirePart, maskError)
    const text = `${opening}${partText(json, boundary, hasNext)}`
    opening = ''
    return { text, isLast: !hasNext, part }
  }

  // A source that fails or ends without a last part still gets its closing delimiter: clients wait for it.
  const closing = (): StreamPart => toBodyPart({ hasNext: false })
  const next = (): Promise<StreamPart> =>
    iterator
      .next()
      .then(({ done, value }) => (done ? closing() : toBodyPart(format(value as Part), value)), closing)
  const leave = (): void => {
    iterator.return?.().catch(() => undefined)
  }

  return {
    next,
    leave,
    headers: {
      'Content-Type': contentTypeOf(delivery, boundary),
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no',
      Incremental: '?1',
      Vary: 'Accept',
    },
  }
}

/** The response itself. */
export function createMultipartResponse(multipart: PartStream, fetchAPI: FetchAPI): Response {
  return new fetchAPI.Response(createMultipartBody(multipart, fetchAPI), {
    status: 200,
    // A copy: Yoga's class of headers writes into the object that it is given.
    headers: { ...multipart.headers },
  })
}

export function contentTypeOf({ parameter }: MultipartDelivery, boundary: string): string {
  return `multipart/mixed; boundary="${boundary}"${parameter === undefined ? '' : `; ${parameter}`}`
}

export const openingOf = (boundary: string): string => `\r\n--${boundary}\r\n`

export function partText(json: string, boundary: string, hasNext: boolean): string {
  return `Content-Type: application/json; charset=utf-8\r\n\r\n${json}\r\n--${boundary}${hasNext ? '' : '--'}\r\n`
}
