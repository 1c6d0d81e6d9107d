import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ConfigError, reasonOf } from '../errors.ts'

export interface DownloadedDocument {
  readonly file: string
  /** Where it came from, after redirects, without a query that may hold a secret. */
  readonly url: string
}

export interface DownloadLimits {
  /** Default 64 MiB, unpacked. */
  readonly maxBytes?: number | undefined
  /** For all of it. Default 30 seconds. */
  readonly timeoutMs?: number | undefined
}

/**
 * Keeps an OpenAPI document in a folder, under its own name and never over another file.
 * @throws ConfigError where it cannot be had whole
 */
export async function downloadDocument(
  address: string,
  directory: string,
  { maxBytes = 64 * 1024 * 1024, timeoutMs = 30_000 }: DownloadLimits = {},
): Promise<DownloadedDocument> {
  try {
    const response = await fetch(address, {
      headers: { accept: 'application/json, application/yaml, */*;q=0.1' },
      signal: AbortSignal.timeout(timeoutMs),
    })
    const bytes = await readUpTo(response, maxBytes)
    if (!response.ok) throw new Error(`the server answered ${response.status}`)
    const file = join(directory, nameOf(address, bytes))
    await writeFile(file, bytes, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST' ? new Error(`${file} exists already; use it, or remove it first`) : error
    })
    const { origin, pathname } = new URL(response.url)
    return { file, url: origin + pathname }
  } catch (error) {
    throw new ConfigError(`init: ${address} cannot be kept: ${reasonOf(error)}`, { cause: error })
  }
}

async function readUpTo({ body }: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop early ends the download.
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes; download it yourself`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function nameOf(address: string, bytes: Buffer): string {
  const isJson = /^\uFEFF?\s*[{[]/.test(bytes.subarray(0, 1024).toString('utf8'))
  const given = basename(new URL(address).pathname)
    .replace(/\.(json|ya?ml)$/i, '')
    .replaceAll(/[^\w.-]+/g, '_')
    .replace(/^\.+/, '')
  return `${given || 'openapi'}.${isJson ? 'json' : 'yaml'}`
}
