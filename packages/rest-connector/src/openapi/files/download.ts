import { textOf } from './text-of.ts'

export interface DownloadOptions {
  /**
   * Sent to the origin of the document's URL and to no other, for documents that are not public:
   * `{ Authorization: 'Bearer …' }`. Default: none.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Other origins that `$ref`s may lead to, such as `https://schemas.example.com`. Default: none. Those of the document's
   * own server are always followed where it came from a URL.
   */
  readonly origins?: readonly string[] | undefined
  /** Limit in bytes of all files together, unpacked. More is an error. Default 64 MiB. */
  readonly maxBytes?: number | undefined
  /** How many files there may be. More is an error. Default 500. */
  readonly maxFiles?: number | undefined
  /** For all of it. Default 30 seconds. */
  readonly timeoutMs?: number | undefined
}

export interface Downloaded {
  /** The URL after redirects, without the query, which may hold a secret. */
  readonly url: URL
  readonly text: string
}

/** An error about a whole document, and not about one of its files. */
export class DownloadEnded extends Error {}

const MAX_REDIRECTS = 5

/** Downloads the files of one document, which have their bounds together. */
export class Download {
  readonly #options: Readonly<Record<'maxBytes' | 'maxFiles' | 'timeoutMs', number>> & DownloadOptions
  readonly #signal: AbortSignal
  #bytes = 0
  #files = 0
  /** The origin that the headers are for. */
  readonly #home: string | undefined

  constructor(home: string | undefined, options: DownloadOptions) {
    const { headers = {}, maxBytes = 64 * 1024 * 1024, maxFiles = 500, timeoutMs = 30_000 } = options
    this.#home = home
    this.#options = { headers, maxBytes, maxFiles, timeoutMs }
    this.#signal = AbortSignal.timeout(timeoutMs)
  }

  /** @throws DownloadEnded where a bound of the whole is reached */
  async get(address: URL, isAllowed: (url: URL) => boolean): Promise<Downloaded> {
    const { maxFiles, timeoutMs } = this.#options
    if (++this.#files > maxFiles)
      throw new DownloadEnded(`it has more than ${maxFiles} files (download.maxFiles)`)
    try {
      const { response, url } = await this.#follow(address, isAllowed)
      const text = await this.#read(response)
      if (!response.ok) throw new Error(`the server answered ${response.status}`)
      return { url: new URL(url.origin + url.pathname), text }
    } catch (error) {
      if (this.#signal.aborted && !(error instanceof DownloadEnded))
        throw new DownloadEnded(`it took longer than ${timeoutMs} ms (download.timeoutMs)`, { cause: error })
      throw error
    }
  }

  async #follow(
    address: URL,
    isAllowed: (url: URL) => boolean,
  ): Promise<{ readonly response: Response; readonly url: URL }> {
    let url = address
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const response = await fetch(url, {
        headers: {
          accept: 'application/json, application/yaml, */*;q=0.1',
          ...(url.origin === this.#home && this.#options.headers),
        },
        redirect: 'manual',
        signal: this.#signal,
      })
      const location = response.headers.get('location')
      if (location === null || ![301, 302, 303, 307, 308].includes(response.status)) return { response, url }
      await response.body?.cancel()
      const next = new URL(location, url)
      if (!isAllowed(next)) throw new Error(`it leads to another server, ${next.origin}`)
      if (url.protocol === 'https:' && next.protocol !== 'https:')
        throw new Error(`it leads from https to ${next.origin}`)
      url = next
    }
    throw new Error(`it leads on more than ${MAX_REDIRECTS} times`)
  }

  async #read({ body }: Response): Promise<string> {
    const chunks: Uint8Array[] = []
    const { maxBytes } = this.#options
    // Leaving the loop early ends the download.
    for await (const chunk of body ?? []) {
      this.#bytes += chunk.byteLength
      if (this.#bytes > maxBytes)
        throw new DownloadEnded(`it has more than ${maxBytes} bytes (download.maxBytes)`)
      chunks.push(chunk)
    }
    return textOf(Buffer.concat(chunks))
  }
}
