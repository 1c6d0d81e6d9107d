import type { DownloadOptions } from './download.ts'
import { readDocument } from './read-document.ts'

/** A document as it lies on a server. */
export interface OpenApiFiles {
  /** The document's own address, after redirects, without a query that may hold a secret. */
  readonly url: string
  /** Texts by their addresses, the document first, then what it refers to. */
  readonly files: ReadonlyMap<string, string>
  /** Files that it refers to and that could not be had, by their addresses, each with the reason. */
  readonly missing: ReadonlyMap<string, string>
}

/**
 * Downloads a document with the files that it refers to, as `importOpenApi` does, to be kept.
 * @throws RestConfigError where it cannot be had, is none, or is beyond a bound
 */
export async function downloadOpenApi(url: string, download: DownloadOptions = {}): Promise<OpenApiFiles> {
  const files = new Map<string, string>()
  const { missing, url: home = url } = await readDocument(url, {
    download,
    onText: (address, text) => files.set(address, text),
  })
  return { url: home, files, missing }
}
