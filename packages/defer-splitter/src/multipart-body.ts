import { Readable } from 'node:stream'

/** The text of one part, and whether the body ends with it. */
export interface BodyPart {
  readonly text: string
  readonly isLast: boolean
}

/**
 * The body of a multipart response. Piped into a Node response, which is what servers do with it, each part goes out as
 * one write and the last one together with the end of the response. Read in any other way it is an ordinary stream.
 */
export class MultipartBody extends Readable {
  readonly #next: () => Promise<BodyPart>
  readonly #leave: () => void

  /**
   * @param next The next part; never rejects.
   * @param leave Called when nobody wants more, and after the last part.
   */
  constructor(next: () => Promise<BodyPart>, leave: () => void) {
    // Nothing is read ahead: parts stay apart, and the next is asked for when this one is taken.
    super({ highWaterMark: 0 })
    this.#next = next
    this.#leave = leave
  }

  override _read(): void {
    void this.#take(({ text, isLast }) => {
      this.push(text)
      if (isLast) this.push(null)
    })
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#leave()
    done(error)
  }

  override pipe<Destination extends NodeJS.WritableStream>(
    destination: Destination,
    options?: { readonly end?: boolean },
  ): Destination {
    if (this.readableDidRead || this.readableFlowing !== null || options?.end === false) {
      return super.pipe(destination, options)
    }
    const takeNext = (): void => void this.#take(write)
    const write = ({ text, isLast }: BodyPart): void => {
      if (isLast) destination.end(text)
      else if (destination.write(text)) takeNext()
      else destination.once('drain', takeNext)
    }
    takeNext()
    return destination
  }

  async #take(give: (part: BodyPart) => void): Promise<void> {
    const part = await this.#next()
    if (this.destroyed) return
    give(part)
    if (part.isLast) this.#leave()
  }
}
