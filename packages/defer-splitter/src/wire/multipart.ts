import type { FetchAPI } from 'graphql-yoga'
import type { MultipartDelivery } from './accept.ts'
import { type BodyPart, createMultipartBody } from './multipart-body.ts'
import type { Part } from '../parts.ts'
import { type MaskError, stringifyPart, type WirePart } from './wire-format.ts'

export interface MultipartInput {
  readonly parts: AsyncIterable<unknown>
  readonly delivery: MultipartDelivery
  readonly boundary: string
  readonly format: (part: Part) => WirePart
  readonly maskError: MaskError
  readonly fetchAPI: FetchAPI
}

/**
 * The response that carries the parts. Clients look for the delimiter to tell where a part ends, so each part is one
 * write that ends in the next delimiter; the last ends in the closing one.
 */
export function createMultipartResponse(input: MultipartInput): Response {
  const { parts, delivery, boundary, format, maskError, fetchAPI } = input
  const iterator = parts[Symbol.asyncIterator]()
  let opening = `\r\n--${boundary}\r\n`

  function toBodyPart(part: WirePart): BodyPart {
    const { json, hasNext } = stringifyPart(part, maskError)
    const text = `${opening}Content-Type: application/json; charset=utf-8\r\n\r\n${json}\r\n--${boundary}${hasNext ? '' : '--'}\r\n`
    opening = ''
    return { text, isLast: !hasNext }
  }

  // A source that fails or ends without a last part still gets its closing delimiter: clients wait for it.
  const closing = (): BodyPart => toBodyPart({ hasNext: false })
  const next = (): Promise<BodyPart> =>
    iterator.next().then(({ done, value }) => (done ? closing() : toBodyPart(format(value as Part))), closing)
  const leave = (): void => {
    iterator.return?.().catch(() => undefined)
  }

  const parameter = delivery.parameter === undefined ? '' : `; ${delivery.parameter}`
  return new fetchAPI.Response(createMultipartBody({ next, leave }, fetchAPI), {
    status: 200,
    headers: {
      'Content-Type': `multipart/mixed; boundary="${boundary}"${parameter}`,
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no',
      Incremental: '?1',
      Vary: 'Accept',
    },
  })
}
