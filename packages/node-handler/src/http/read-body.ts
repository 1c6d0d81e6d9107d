import type { IncomingMessage } from 'node:http'
import { bodyAlreadyRead, clientLeft } from '../errors.ts'

/** Throws if a body with this number of bytes is too large. */
export type CheckSize = (bytes: number) => void

/**
 * Reads the complete body. If `check` throws, the promise rejects, the received bytes are freed, and later bytes are
 * dropped.
 */
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
    // The connection ended. This is not an error of the server, so it is not logged.
    request.on('error', () => reject(clientLeft()))
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
  })
}

/** Checks the size of a body that is read as a stream. */
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
