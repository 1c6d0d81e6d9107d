import { badInput } from '../errors.ts'

/** A file of a multipart request, as any server's own class has it. */
export interface FileLike {
  readonly name?: string | undefined
  readonly type?: string | undefined
  /** Bytes; undefined: known at the end only. */
  readonly size?: number | undefined
  /** True: its bytes can be read once. Default: any number of times. */
  readonly isOnce?: boolean | undefined
  /** Resolves when the name and type are known; only a file that still comes from a connection has this. */
  arrived?(): Promise<void>
  stream(): AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>
}

export function isFile(value: unknown): value is FileLike {
  return (
    typeof value === 'object' && value !== null && 'stream' in value && typeof value.stream === 'function'
  )
}

/** The bytes of a file, of binary data, or of base64 text. */
export function toFile(value: unknown, name: string): FileLike {
  if (isFile(value)) return value
  if (value instanceof Uint8Array) return fileOf(value)
  if (typeof value === 'string' && isBase64(value)) return fileOf(Buffer.from(value, 'base64'))
  throw badInput(`The value for "${name}" must be a file of a multipart request, or base64 text.`)
}

/** RFC 4648, section 4 and 5, with or without padding. */
export function isBase64(text: string): boolean {
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(text) && text.replace(/={1,2}$/, '').length % 4 !== 1
}

/** In text and in JSON the bytes are base64. */
function fileOf(bytes: Uint8Array): FileLike & { toJSON(): string } {
  return {
    size: bytes.length,
    async *stream() {
      yield bytes
    },
    toJSON: () => Buffer.from(bytes).toString('base64'),
  }
}

/** Makes of a value of the scalar `Upload` the file that is sent, wherever it comes from. */
export function toSentFile(value: unknown): unknown {
  if (value === null || value === undefined) return value
  return isFile(value) ? received(value) : toFile(value, 'Upload')
}

/** A file of a multipart request, whose bytes have not all come: it has no text that could stand beside others. */
function received(file: FileLike): FileLike {
  const toJSON = (): never => {
    throw badInput(
      'A file of a multipart request can be sent to the upstream only as the body or as a part of a multipart body. Send the data as base64 text.',
    )
  }
  // A proxy of the file itself could not stand for a frozen one.
  return new Proxy<FileLike>(
    { stream: () => file.stream() },
    {
      has: (_, key) => key === 'toJSON' || key in file,
      get(_, key) {
        if (key === 'toJSON') return toJSON
        const value: unknown = Reflect.get(file, key)
        return typeof value === 'function' ? value.bind(file) : value
      },
    },
  )
}

/** The same file as base64 text, written as it is read. */
export function inBase64(file: FileLike): FileLike {
  return {
    size: file.size === undefined ? undefined : Math.ceil(file.size / 3) * 4,
    isOnce: file.isOnce,
    async *stream() {
      let rest: Buffer = Buffer.alloc(0)
      for await (const chunk of file.stream() as AsyncIterable<Uint8Array>) {
        const bytes = Buffer.concat([rest, chunk])
        const whole = bytes.length - (bytes.length % 3)
        rest = bytes.subarray(whole)
        if (whole > 0) yield Buffer.from(bytes.toString('base64', 0, whole))
      }
      if (rest.length > 0) yield Buffer.from(rest.toString('base64'))
    },
  }
}
