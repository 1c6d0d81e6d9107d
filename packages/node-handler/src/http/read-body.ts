import type { IncomingMessage } from 'node:http'
import { bodyAlreadyRead, clientLeft } from '../errors.ts'

/** Throws when a body of so many bytes may not be read on. */
export type CheckSize = (bytes: number) => void

/** The whole body. Keeps no more bytes, and rejects, as soon as `check` throws; what still arrives is dropped. */
export function readBody(request: IncomingMessage, check: CheckSize | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (request.readableEnded) throw bodyAlreadyRead()
    if (request.destroyed) {
      resolve(Buffer.alloc(0))
      return
    }
    const announced = request.headers['content-length']
    if (announced !== undefined) check?.(Number(announced))
    const chunks: Buffer[] = []
    let bytes = 0
    let refused = false
    request.on('data', (chunk: Buffer) => {
      if (refused) return
      bytes += chunk.length
      try {
        check?.(bytes)
        chunks.push(chunk)
      } catch (error) {
        refused = true
        chunks.length = 0
        reject(error)
      }
    })
    // Nothing but the end of the connection: nobody's fault, and nothing to log.
    request.on('error', () => reject(clientLeft()))
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
  })
}

/** The same, for those who read the stream. */
export async function* countedBody(
  chunks: AsyncIterable<Buffer>,
  check: CheckSize,
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    check(bytes)
    yield chunk
  }
}
