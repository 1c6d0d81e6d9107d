import type { Ending } from '@vinyasa/core'
import { GraphQLError } from 'graphql'
import { ResponseTooLarge } from '../failures.ts'
import type { Transport, TransportOptions, WireResponse } from '../transport.ts'
import { bytesOf, isStreamed, SentBodyFailed } from '../../bodies/wire-body.ts'

/** The encodings that every platform's fetch decodes by itself. */
const DECODED = ['gzip', 'deflate', 'br']

/**
 * The platform's own fetch, where the import condition `node` does not hold (workerd, edge runtimes). Connections and
 * proxies are the platform's business: `maxConnections` and the variables of proxies say nothing here.
 */
export function createTransport({ origin, maxResponseBytes }: TransportOptions): Transport {
  return {
    async send({ origin: other = origin, method, path, headers, body }, ending) {
      if (ending.aborted) throw ending.reason
      try {
        const response = await fetch(`${other}${path}`, {
          method,
          headers: { ...headers, 'accept-encoding': DECODED.join(', ') },
          ...(isStreamed(body) ? { body: streamOf(bytesOf(body)), duplex: 'half' } : { body: body ?? null }),
          redirect: 'manual',
          signal: ending.signal,
        })
        return {
          status: response.status,
          headers: headersOf(response.headers),
          body: await readUpTo(response, maxResponseBytes),
        }
      } catch (error) {
        throw reasonOf(error, ending)
      }
    },
    close: () => Promise.resolve(),
  }
}

/**
 * Returns what ended the exchange, and not what fetch made of it. All errors of fetch itself are of the
 * network, and have no code.
 */
function reasonOf(error: unknown, ending: Ending): unknown {
  if (ending.aborted) return ending.reason
  for (const one of [error, (error as Error).cause])
    if (one instanceof ResponseTooLarge || one instanceof SentBodyFailed || one instanceof GraphQLError)
      return one
  return Object.assign(new Error('the request to the upstream failed', { cause: error }), {
    code: 'FETCH_FAILED',
  })
}

/** Fetch has decoded these: the header that speaks of the encoding is gone. */
function headersOf(headers: Headers): WireResponse['headers'] {
  const { 'content-encoding': encoding, ...rest } = Object.fromEntries(headers)
  const isDecoded = !encoding || DECODED.includes(encoding.toLowerCase())
  return isDecoded ? rest : { ...rest, 'content-encoding': encoding }
}

async function readUpTo(response: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop early ends the answer.
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw new ResponseTooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

function streamOf(bytes: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const source = bytes[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await source.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => void (await source.return?.()),
  })
}
