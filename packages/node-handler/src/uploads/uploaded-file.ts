import { unusableUpload, uploadTooLarge } from '../errors.ts'
import { streamBody } from '../http/body.ts'
import type { PartBytes } from './multipart-parts.ts'

/** File of a multipart request. Its bytes are read from the connection as they arrive. */
export interface UploadedFile {
  /** Name that the client declares; empty until the file arrives. */
  readonly name: string
  /** Media type that the client declares; empty until the file arrives. */
  readonly type: string
  /** Always `undefined`, because the size is unknown until the end of the file. */
  readonly size: undefined
  /** Marks that the bytes can be read only once. */
  readonly isOnce: true
  /** Resolves when the file starts to arrive, and `name` and `type` are set. */
  arrived(): Promise<void>
  /**
   * Returns the bytes with backpressure.
   * @throws GraphQLError on the second call
   */
  stream(): AsyncIterable<Uint8Array>
  arrayBuffer(): Promise<ArrayBuffer>
  text(): Promise<string>
}

/** A part of the body from the parser. */
export interface FilePart {
  readonly bytes: PartBytes
  readonly name: string
  readonly type: string
}

/** The queue of files that wait for their part of the body. */
export interface FileQueue {
  readonly maxFileBytes: number
  readonly incoming: object
  /** Rejects if an earlier file is not read. */
  untilReached(file: WaitingFile, arrival: Promise<void>): Promise<void>
}

/** An {@link UploadedFile} with the methods for the parser. */
export class WaitingFile implements UploadedFile {
  readonly size: undefined = undefined
  readonly isOnce = true as const
  readonly #queue: FileQueue
  readonly #arrival: Promise<void>
  #resolve: () => void = () => {}
  #reject: (reason: unknown) => void = () => {}
  #part: FilePart | undefined
  #failure: { readonly reason: unknown } | undefined
  #isOpen = false
  #isDiscarded = false

  constructor(queue: FileQueue) {
    this.#queue = queue
    this.#arrival = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // The file can remain unused.
    this.#arrival.catch(() => {})
  }

  get name(): string {
    return this.#part?.name ?? ''
  }

  get type(): string {
    return this.#part?.type ?? ''
  }

  get [Symbol.toStringTag](): string {
    return 'File'
  }

  /** Whether the connection has reached the file and the file is not being read. */
  get isInTheWay(): boolean {
    return this.#part !== undefined && !this.#isOpen && !this.#isDiscarded && !this.#part.bytes.readableEnded
  }

  get hasArrived(): boolean {
    return this.#part !== undefined || this.#failure !== undefined
  }

  arrived(): Promise<void> {
    return this.#queue.untilReached(this, this.#arrival)
  }

  stream(): AsyncIterable<Uint8Array> {
    if (this.#isOpen)
      throw unusableUpload(
        'A file of the request was read twice, but resolvers can read a file only once. Send a separate file for each path in "map".',
      )
    if (this.#isDiscarded)
      throw unusableUpload(
        'An uploaded file was not read before the response was sent. Read the file before the resolver completes.',
      )
    this.#isOpen = true
    streamBody(this.#queue.incoming, true)
    return this.#read()
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    const bytes = await this.#whole()
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
  }

  async text(): Promise<string> {
    return (await this.#whole()).toString('utf8')
  }

  /** Connects the file to its part of the body. */
  attach(part: FilePart): void {
    this.#part = part
    // The reader receives the error. Without a listener, it would end the process.
    part.bytes.on('error', () => {})
    if (this.#isDiscarded) part.bytes.resume()
    this.#resolve()
  }

  /** Reports that the file is missing or incomplete. */
  fail(reason: unknown): void {
    this.#failure ??= { reason }
    this.#reject(reason)
    this.#part?.bytes.destroy(reason instanceof Error ? reason : undefined)
  }

  /** Skips the bytes of the file, because it will not be read. */
  discard(): void {
    if (this.#isOpen) return
    this.#isDiscarded = true
    this.#part?.bytes.resume()
  }

  async #whole(): Promise<Buffer> {
    const chunks: Uint8Array[] = []
    const stream = this.stream()
    streamBody(this.#queue.incoming, false)
    for await (const chunk of stream) chunks.push(chunk)
    return Buffer.concat(chunks)
  }

  async *#read(): AsyncGenerator<Uint8Array, void, undefined> {
    await this.arrived()
    const { bytes } = this.#part as FilePart
    try {
      // If a reader stops early, the stream is not destroyed, because later parts of the body must still arrive.
      for await (const chunk of bytes.iterator({ destroyOnReturn: false })) yield chunk as Uint8Array
    } catch (error) {
      throw this.#failure ? this.#failure.reason : error
    } finally {
      bytes.resume()
    }
    if (this.#failure) throw this.#failure.reason
    const { maxFileBytes } = this.#queue
    if (bytes.truncated) throw uploadTooLarge('A file of the request', maxFileBytes)
  }
}
