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

/** Listeners that are told of the parts, in their order. `onError` is told of what throws, or fails. */
export interface PartListeners {
  onField(name: string, value: string, isCut: boolean): void
  /** The bytes must be read to their end, or resumed: what follows waits behind them. */
  onFile(name: string, bytes: PartBytes, fileName: string | undefined, type: string): void
  /** May be called again. */
  onError(error: unknown): void
  onEnd(): void
}

/** `truncated`: there were more bytes than allowed. */
export type PartBytes = Readable & { readonly truncated?: boolean }

/** Takes the bytes of a multipart body. */
export interface MultipartParts {
  /** Resolves when there is room for more. */
  write(bytes: Uint8Array): Promise<void>
  end(): void
}

/** Bytes of a file that wait in memory while nobody reads them. */
const FILE_BUFFER = 256 * 1024

/**
 * The parser asks nobody to read parts that it leaves out, as those without a name: they flow by in the turn after. Fed
 * with more than it buffers in one turn it would wait for ever. The smallest parts take 5 µs each.
 */
const SLICE = 16 * 1024

/** Reads the parts of a multipart body. Throws a GraphQLError of status 400 where the type names no boundary. */
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
  // The name may be undefined, though the parser's types say that it is a text.
  parser.on('field', (name: string | undefined, value, _, isCut) => {
    if (name === undefined) fail(NAMELESS)
    else guarded(() => listeners.onField(name, value, isCut))
  })
  parser.on('file', (name: string | undefined, bytes, fileName: string | undefined, _, type) => {
    // Told to `onError` as well; without a listener, a body that breaks off would end the process.
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
      // What follows would be parsed for nothing.
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
