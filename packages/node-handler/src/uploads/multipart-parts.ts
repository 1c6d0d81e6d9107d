import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { GraphQLError } from 'graphql'
import { badUploadRequest } from '../errors.ts'

export interface MultipartLimits {
  readonly maxFieldBytes: number
  readonly maxFields: number
  readonly maxFileBytes: number
  readonly maxFiles: number
}

/** Listeners for the parts of a body, in order. `onError` receives thrown errors and rejections. */
export interface PartListeners {
  onField(name: string, value: string, isCut: boolean): void
  /** The bytes must be read completely or resumed, because later parts wait for them. */
  onFile(name: string, bytes: PartBytes, fileName: string | undefined, type: string): void
  /** Can be called more than once. */
  onError(error: unknown): void
  onEnd(): void
}

/** `truncated` means that the part exceeded its limit. */
export type PartBytes = Readable & { readonly truncated?: boolean }

/** Parses the bytes of a multipart body. */
export interface MultipartParts {
  /** Resolves when the parser accepts more bytes. */
  write(bytes: Uint8Array): Promise<void>
  end(): void
}

/** Bytes of a file that are buffered while the file is not read. */
const FILE_BUFFER = 256 * 1024

/**
 * The parser skips parts without a name in the next tick. If it receives more bytes than it buffers in one tick, it
 * stalls forever. The smallest parts take 5 µs each.
 */
const SLICE = 16 * 1024

/**
 * Creates a parser for a multipart body. Throws a GraphQLError with status 400 if the content type contains no
 * boundary.
 */
export async function openMultipart(
  contentType: string,
  limits: MultipartLimits,
  listeners: PartListeners,
): Promise<MultipartParts> {
  const { Busboy } = await import('@fastify/busboy')
  const { maxFieldBytes, maxFields, maxFileBytes, maxFiles } = limits
  const state = { isRefused: false }
  const refuse = (error: unknown): void => {
    state.isRefused = true
    listeners.onError(error)
  }
  const fail = (error: unknown): void => refuse(malformed(error))
  const guarded = (listen: () => void): void => {
    try {
      listen()
    } catch (error) {
      refuse(error)
    }
  }
  const parser = ((): InstanceType<typeof Busboy> => {
    try {
      return new Busboy({
        headers: { 'content-type': contentType },
        limits: {
          fieldSize: maxFieldBytes,
          fields: maxFields,
          files: maxFiles,
          fileSize: maxFileBytes,
          parts: maxFiles + maxFields,
        },
        fileHwm: FILE_BUFFER,
      })
    } catch (error) {
      throw malformed(error)
    }
  })()
  // The name can be `undefined`, although the parser's types declare a string.
  parser.on('field', (name: string | undefined, value, _, isCut) => {
    if (name === undefined) fail(NAMELESS)
    else guarded(() => listeners.onField(name, value, isCut))
  })
  parser.on('file', (name: string | undefined, bytes, fileName: string | undefined, _, type) => {
    // `onError` receives the error too. Without a listener, an incomplete body would end the process.
    bytes.on('error', () => {})
    if (name === undefined) {
      bytes.resume()
      fail(NAMELESS)
    } else guarded(() => listeners.onFile(name, bytes, fileName, type))
  })
  parser.on('filesLimit', () => fail(`it has more than ${maxFiles} files`))
  parser.on('fieldsLimit', () => fail(`it has more than ${maxFields} fields`))
  parser.on('partsLimit', () => fail(`it has more than ${maxFiles + maxFields} parts`))
  parser.on('error', fail)
  parser.on('finish', () => guarded(() => listeners.onEnd()))
  return {
    async write(bytes) {
      // The request is already refused, so the remaining bytes are not parsed.
      for (let at = 0; at < bytes.byteLength && !state.isRefused; at += SLICE) {
        if (at > 0) await setImmediate()
        await new Promise<void>((resolve) => parser.write(bytes.subarray(at, at + SLICE), () => resolve()))
      }
    },
    end: () => void parser.end(),
  }
}

const NAMELESS = 'a part has no name in its Content-Disposition header'

function malformed(error: unknown): GraphQLError {
  if (typeof error === 'string') return badUploadRequest(error)
  return badUploadRequest(error instanceof Error ? error.message : 'its body cannot be parsed')
}
