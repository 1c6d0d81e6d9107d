import { ByteCollector } from '../memory/collect-bytes.ts'

export interface BoundedFetchOptions {
  /**
   * Maximum bytes of the body after decompression. A larger body throws {@link BodyTooLarge}. 0 means that the body
   * is not read.
   */
  readonly maxBytes: number
  /**
   * Maximum number of redirects. More redirects throw an error. The redirect response is returned if this is
   * 0 or `body` is set. Default 5.
   */
  readonly maxRedirects?: number | undefined
  /** Cancels the request, including redirects and body. It must abort after some time. */
  readonly signal: AbortSignal
  /** HTTP method. Default `GET`. */
  readonly method?: 'GET' | 'HEAD' | 'POST' | undefined
  readonly accept?: string | undefined
  /** Request headers. They are sent only to the origin of the address, also after redirects. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: URLSearchParams | undefined
  /**
   * Returns whether to follow a redirect to this URL. All redirects are followed by default. Redirects from
   * https to http are always refused.
   */
  readonly isAllowed?: ((url: URL) => boolean) | undefined
  /** Fetch function. Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

export interface BoundedResponse extends Pick<Response, 'status' | 'ok' | 'headers'> {
  /** URL after redirects. */
  readonly url: URL
  /** Body. It is empty if the status is not 2xx, because these bodies are not read. */
  readonly bytes: Buffer
}

/** Thrown if a body exceeds `maxBytes`. */
export class BodyTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`the response is larger than ${maxBytes} bytes`)
  }
}

/**
 * Fetches a document from an untrusted server, with limits on bytes, time and redirects. The gateway uses it for all
 * requests that are not backend calls.
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
    if (hops === maxRedirects) throw new Error(`the server redirects more than ${maxRedirects} times`)
    if (!isAllowed(next))
      throw new Error(`the server redirects to another server, ${next.origin}, which is not allowed`)
    if (url.protocol === 'https:' && next.protocol !== 'https:')
      throw new Error(
        `the server redirects from https to ${next.origin}, but only redirects to https are allowed`,
      )
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
      if (collected.isShredded) throw new Error('the response arrives in too many small chunks')
    }
  return collected.take()
}
