import { atLeast, type KnownOptions, refuseWrongOptions } from '@vinyasa/base'
import type { Plugin } from 'graphql-yoga'
import { readUploads, type ReadUploads } from './read-uploads.ts'

export interface UploadOptions {
  /** Bytes of one file; one more ends its stream with an error. Default 100,000,000. */
  readonly maxFileBytes?: number | undefined
  /** Files of one request, and places in its operations where they stand. Default 10. */
  readonly maxFiles?: number | undefined
  /** Bytes of `operations`, and of `map`. Default 1,000,000. */
  readonly maxFieldBytes?: number | undefined
  /**
   * How long a file is waited for that comes after one which nobody reads: the bytes of both come one after the other.
   * Default 10,000 ms.
   */
  readonly maxIdleMs?: number | undefined
}

const NAMES: KnownOptions<UploadOptions> = {
  maxFileBytes: atLeast(0),
  maxFiles: atLeast(0),
  maxFieldBytes: atLeast(0),
  maxIdleMs: atLeast(0),
}

/**
 * Streams the files of GraphQL multipart requests: an operation begins when the first file does, and gets
 * `UploadedFile`s whose bytes are read from the connection at the speed of who reads them. Comes after plugins that
 * read bodies; Yoga's `maxRequestBodySize` applies beside it.
 */
export function useUploads(options: UploadOptions = {}): Plugin {
  refuseWrongOptions('useUploads', options, NAMES)
  const { maxFileBytes = 100_000_000, maxFiles = 10, maxFieldBytes = 1_000_000, maxIdleMs = 10_000 } = options
  const limits = { maxFileBytes, maxFiles, maxFieldBytes, maxIdleMs }
  const running = new WeakMap<Request, ReadUploads>()
  return {
    onRequestParse({ request, serverContext, setRequestParser }) {
      const [type = ''] = (request.headers.get('content-type') ?? '').split(';', 1)
      if (request.method !== 'POST' || type.trim().toLowerCase() !== 'multipart/form-data') return
      setRequestParser(async (read) => {
        const { req: incoming = {} } = serverContext as { readonly req?: object }
        const uploads = await readUploads(read, { ...limits, incoming })
        running.set(request, uploads)
        return uploads.operations as never
      })
    },
    onResponse({ request }) {
      // Files that no resolver wanted have to go by, or the connection would be of no further use.
      running.get(request)?.discard()
    },
  }
}
