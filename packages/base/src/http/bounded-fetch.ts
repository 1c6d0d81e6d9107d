import { ByteCollector } from '../memory/collect-bytes.ts'

export interface BoundedFetchOptions {
  /** Limit of the body in bytes, after decompression. More is a {@link BodyTooLarge}; with 0 the body is not read. */
  readonly maxBytes: number
  /** How many redirects are followed. More is an error; with 0, or a `body`, the redirect is the response. Default 5. */
  readonly maxRedirects?: number | undefined
  /** Ends the request, the redirects and the body together. It must abort after some time. */
  readonly signal: AbortSignal
  /** Default `GET`. */
  readonly method?: 'GET' | 'HEAD' | 'POST' | undefined
  readonly accept?: string | undefined
  /** Sent to the origin of the address only, also after redirects. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: URLSearchParams | undefined
  /** Whether a redirect to this URL is followed. Default: each is. Redirects from https to http never are. */
  readonly isAllowed?: ((url: URL) => boolean) | undefined
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

export interface BoundedResponse extends Pick<Response, 'status' | 'ok' | 'headers'> {
  /** The address after redirects. */
  readonly url: URL
  /** The body. It is empty if the status is not 2xx: such bodies are not read. */
  readonly bytes: Buffer
}

/** A body was longer than `maxBytes`. */
export class BodyTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`the response has more than ${maxBytes} bytes`)
  }
}

/**
 * Requests a document of a server that is not trusted: its bytes, its time and its redirects are bounded. Every request
 * of the gateway that is no call of a backend goes through this function.
 */
export async function boundedFetch(
  address: string | URL,
  options: BoundedFetchOptions,
): Promise<BoundedResponse> {
  const { maxBytes, maxRedirects = 5, signal, method = 'GET', accept, headers, body = null } = options
  const { isAllowed = () => true, fetch = globalThis.fetch } = options
  const home = new URL(address)
  let url = home
  for (let hops = 0; ; hops++) {
    if (!/^https?:$/.test(url.protocol))
      throw new Error(`expected an http or https address, got ${url.protocol}`)
    const response = await fetch(url.href, {
      method,
      headers: { ...(accept && { accept }), ...(url.origin === home.origin && headers) },
      body,
      redirect: 'manual',
      signal,
    })
    const next = maxRedirects === 0 || body ? undefined : redirectOf(response, url)
    if (next === undefined) {
      const { status, ok } = response
      return { url, status, ok, headers: response.headers, bytes: await readBody(response, maxBytes) }
    }
    await response.body?.cancel()
    if (hops === maxRedirects) throw new Error(`it leads on more than ${maxRedirects} times`)
    if (!isAllowed(next)) throw new Error(`it leads to another server, ${next.origin}`)
    if (url.protocol === 'https:' && next.protocol !== 'https:')
      throw new Error(`it leads from https to ${next.origin}`)
    url = next
  }
}

function redirectOf({ status, headers }: Response, url: URL): URL | undefined {
  const location = headers.get('location')
  return location !== null && [301, 302, 303, 307, 308].includes(status) ? new URL(location, url) : undefined
}

async function readBody({ ok, body }: Response, maxBytes: number): Promise<Buffer> {
  const collected = new ByteCollector()
  if (!ok || maxBytes === 0) await body?.cancel()
  // Leaving the loop early ends the download.
  else
    for await (const { buffer, byteOffset, byteLength } of body ?? []) {
      collected.add(Buffer.from(buffer, byteOffset, byteLength))
      if (collected.length > maxBytes) throw new BodyTooLarge(maxBytes)
      if (collected.isShredded) throw new Error('the response comes in too many small pieces')
    }
  return collected.take()
}
