import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Ending } from '@vinyasa/base'
import { type CheckSize, countedBody, readBody } from './read-body.ts'
import { urlOf } from './request-url.ts'

/** What a light request is made from, and what was asked of it by now: each is made once. */
export class LightState {
  readonly incoming: IncomingMessage
  parsedUrl: URL | undefined
  /** The true request, once something unusual was asked. */
  request: Request | undefined
  readonly #outgoing: ServerResponse
  /** Read once: a plugin may record what is read of the message later. */
  readonly #host: string | undefined
  #check: CheckSize | undefined
  #url: string | undefined
  #ending: Ending | undefined
  #signal: AbortSignal | undefined
  #bytes: Promise<Buffer> | undefined

  /** @param bytes The body, where it is being read already. */
  constructor(incoming: IncomingMessage, outgoing: ServerResponse, bytes: Promise<Buffer> | undefined) {
    this.incoming = incoming
    this.#host = incoming.headers.host
    this.#outgoing = outgoing
    this.#bytes = bytes
  }

  get url(): string {
    return (this.#url ??= urlOf(this.incoming, this.#host))
  }

  /** Aborts when the connection ends before the answer does. */
  get ending(): Ending {
    return (this.#ending ??= endingOf(this.incoming, this.#outgoing))
  }

  /** The same, for whoever wants a true signal. One request may have any number of backend calls that listen. */
  get signal(): AbortSignal {
    if (!this.#signal) {
      this.#signal = this.ending.signal
      setMaxListeners(0, this.#signal)
    }
    return this.#signal
  }

  addSizeCheck(added: CheckSize): void {
    const check = this.#check
    this.#check = check
      ? (bytes) => {
          check(bytes)
          added(bytes)
        }
      : added
  }

  /** The whole body. */
  read(): Promise<Buffer> {
    return (this.#bytes ??= readBody(this.incoming, this.#check))
  }

  /** The body for whoever reads the stream. */
  remainingBody(): AsyncIterable<Buffer> {
    if (this.#bytes || this.incoming.readableEnded) return this.#bodyInOne()
    return this.#check ? countedBody(this.incoming, this.#check) : this.incoming
  }

  async *#bodyInOne(): AsyncGenerator<Buffer> {
    yield await this.read()
  }
}

function endingOf(incoming: IncomingMessage, outgoing: ServerResponse): Ending {
  const ending = new Ending()
  const leave = (): void => {
    if (ending.aborted) return
    Object.defineProperty(incoming, 'aborted', { value: true })
    ending.abort(outgoing.errored ?? undefined)
  }
  // Of a request whose body was dropped somebody else has written the response.
  if (outgoing.writableFinished && !incoming.aborted) return ending
  if (outgoing.closed || outgoing.destroyed || incoming.aborted) {
    leave()
    return ending
  }
  outgoing.on('error', leave)
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) leave()
  })
  return ending
}
