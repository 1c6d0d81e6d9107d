import { atLeast, type KnownOptions, refuseWrongOptions } from '@vinyasa/base'
import type { Plugin } from 'graphql-yoga'
import { readUploads, type ReadUploads } from './read-uploads.ts'

export interface UploadOptions {
  /** Maximum bytes of one file. A larger file ends its stream with an error. Default 100,000,000. */
  readonly maxFileBytes?: number | undefined
  /** Maximum number of files in a request, and of their places in `operations`. Default 10. */
  readonly maxFiles?: number | undefined
  /** Maximum bytes of `operations` and of `map`. Default 1,000,000. */
  readonly maxFieldBytes?: number | undefined
  /** Milliseconds to wait for a file that follows an unread file, because files arrive in order. Default 10,000. */
  readonly maxIdleMs?: number | undefined
}

const NAMES: KnownOptions<UploadOptions> = {
  maxFileBytes: atLeast(0),
  maxFiles: atLeast(0),
  maxFieldBytes: atLeast(0),
  maxIdleMs: atLeast(0),
}

/**
 * Streams the files of GraphQL multipart requests. An operation starts when its first file starts to arrive.
 * Resolvers receive an `UploadedFile`, and the connection is read at the speed of the resolver. Place it after
 * plugins that read request bodies. Yoga's `maxRequestBodySize` applies too.
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
