import type { FetchAPI } from 'graphql-yoga'
import type { MultipartDelivery } from './accept.ts'
import type { Part } from './parts.ts'
import type { WirePart } from './wire-format.ts'

export interface MultipartInput {
  readonly parts: AsyncIterable<unknown>
  readonly delivery: MultipartDelivery
  readonly boundary: string
  readonly format: (part: Part) => WirePart
  readonly fetchAPI: FetchAPI
}

/**
 * The response that carries the parts. Clients look for the delimiter to tell where a part ends, so each part is one
 * write that ends in the next delimiter; the last ends in the closing one.
 */
export function createMultipartResponse(input: MultipartInput): Response {
  const { parts, delivery, boundary, format, fetchAPI } = input
  const iterator = parts[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  let opening = `\r\n--${boundary}\r\n`

  function encodePart(part: WirePart): Uint8Array {
    const text = `${opening}Content-Type: application/json; charset=utf-8\r\n\r\n${JSON.stringify(part)}\r\n--${boundary}${part.hasNext ? '' : '--'}\r\n`
    opening = ''
    return encoder.encode(text)
  }

  const body = new fetchAPI.ReadableStream({
    async pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      // A source that fails or ends without a last part still gets its closing delimiter: clients wait for it.
      const { done, value } = await iterator.next().catch(() => ({ done: true, value: undefined }))
      const part: WirePart = done ? { hasNext: false } : format(value as Part)
      controller.enqueue(encodePart(part))
      if (part.hasNext) return
      controller.close()
      await iterator.return?.()
    },
    async cancel() {
      await iterator.return?.()
    },
  })
  const parameter = delivery.parameter === undefined ? '' : `; ${delivery.parameter}`
  return new fetchAPI.Response(body, {
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
