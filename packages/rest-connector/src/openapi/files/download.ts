import { BodyTooLarge, boundedFetch } from '@vinyasa/core'

export interface DownloadOptions {
  /**
   * Headers for the origin of the document's URL only, for documents that are not public: `{ Authorization: 'Bearer …' }`.
   * Default: none.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Additional locations for `$ref`s: servers (`https://schemas.example.com`), and folders (`../common`) if the document is a
   * file. Default: none. A document from a URL can always refer to its own server. A file can refer to files in its own folder
   * and below.
   */
  readonly origins?: readonly string[] | undefined
  /** Maximum bytes of all files together, after decompression. Larger documents are an error. Default 64 MiB. */
  readonly maxBytes?: number | undefined
  /** Maximum number of files. More files are an error. Default 500. */
  readonly maxFiles?: number | undefined
  /** Timeout in milliseconds of all downloads together. Default 30 seconds. */
  readonly timeoutMs?: number | undefined
}

/** An error about a whole document, and not about one of its files. */
export class DownloadEnded extends Error {}

/**
 * Returns the text of a file, and its URL after redirects, without the query, which may hold a secret.
 * @throws DownloadEnded where a bound of the whole is reached
 */
export type Download = (
  address: URL,
  isAllowed: (url: URL) => boolean,
) => Promise<{ readonly url: URL; readonly text: string }>

/** Creates a function that downloads the files of one document, which share their bounds. The headers are for `home`. */
export function createDownload(
  home: string | undefined,
  { headers = {}, maxBytes = 64 * 1024 * 1024, maxFiles = 500, timeoutMs = 30_000 }: DownloadOptions,
): Download {
  const signal = AbortSignal.timeout(timeoutMs)
  const tooLarge = `the files to download exceed the limit of ${maxBytes} bytes in total; raise download.maxBytes`
  let totalBytes = 0
  let files = 0

  return async (address, isAllowed) => {
    if (++files > maxFiles)
      throw new DownloadEnded(`the download exceeds the limit of ${maxFiles} files; raise download.maxFiles`)
    if (totalBytes >= maxBytes) throw new DownloadEnded(tooLarge)
    try {
      const { url, ok, status, bytes } = await boundedFetch(address, {
        accept: 'application/json, application/yaml, */*;q=0.1',
        ...(address.origin === home && { headers }),
        maxBytes: maxBytes - totalBytes,
        signal,
        isAllowed,
      })
      if (!ok) throw new Error(`the server responded with status ${status}`)
      totalBytes += bytes.length
      return { url: new URL(url.origin + url.pathname), text: textOf(bytes) }
    } catch (error) {
      if (error instanceof BodyTooLarge) throw new DownloadEnded(tooLarge, { cause: error })
      if (signal.aborted)
        throw new DownloadEnded(`the download took longer than ${timeoutMs} ms; raise download.timeoutMs`, {
          cause: error,
        })
      throw error
    }
  }
}

/** Decodes bytes in the form of Unicode whose mark they begin with, else as UTF-8 (YAML 1.2, section 5.2). */
export function textOf(bytes: Uint8Array): string {
  const mark = `${bytes[0]} ${bytes[1]}`
  const encoding = mark === '255 254' ? 'utf-16le' : mark === '254 255' ? 'utf-16be' : 'utf-8'
  return new TextDecoder(encoding).decode(bytes)
}
