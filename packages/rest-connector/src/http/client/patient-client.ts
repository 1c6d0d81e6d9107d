import type { Clock } from '@vinyasa/core'
import type { Socket } from 'node:net'
import type { buildConnector, Dispatcher } from 'undici'
import Client from 'undici/lib/dispatcher/client.js'
import type { Readable } from 'node:stream'

export interface PatientClientOptions extends Omit<Client.Options, 'connect'> {
  /** The pool's own. */
  readonly connect: buildConnector.connector
  /** A connection that is older is made anew before the next request. 0: none is. */
  readonly maxConnectionAgeMs: number
  readonly clock: Clock
}

/**
 * A connection of a pool that takes whatever interim answers come. It is given a request only when the last is answered.
 *
 * Its age is counted here, not by the pool (`clientTtl`): undici 7.30 counts a client that is too old among those there may be,
 * and requests wait for ever where all are.
 */
export class PatientClient extends Client {
  readonly #interim: InterimAnswers
  /** The next request waits until an old connection is closed, and looks up the host name again. */
  readonly #endOld: () => void

  constructor(
    origin: string | URL,
    { connect, maxConnectionAgeMs, clock, ...options }: PatientClientOptions,
  ) {
    const interim = new InterimAnswers()
    let current: Socket | undefined
    let since = 0
    super(origin, {
      ...options,
      connect(target, done) {
        connect(target, (...outcome) => {
          const [, socket] = outcome
          if (socket) {
            interim.watch(socket)
            current = socket
            since = clock.now()
          }
          done(...outcome)
        })
      },
    })
    this.#interim = interim
    this.#endOld = () => {
      if (maxConnectionAgeMs > 0 && clock.now() - since >= maxConnectionAgeMs) current?.destroy()
    }
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.#endOld()
    this.#interim.expect()
    return super.dispatch(options, handler)
  }
}

/** The beginning of an interim answer, of which HTTP/1.0 has none. */
const START = Buffer.from('HTTP/1.1 1')
const [ZERO, TWO, CR, LF] = [0x30, 0x32, 0x0d, 0x0a]

type State =
  /** At the beginning of an answer, or inside its first bytes. */
  | 'start'
  /** In the status line or the headers of an interim answer. */
  | 'interim'
  /** In the answer itself: whatever comes is its own. */
  | 'final'

/**
 * Has a client of HTTP/1.1 without pipelining take every `100 Continue` for a `102 Processing`, which it passes over: 100
 * says nothing to one that never asks for it, and RFC 9110, section 15.2, has clients take interim answers that they did
 * not ask for. undici ends the connection instead.
 */
export class InterimAnswers {
  #state: State = 'start'
  /** Bytes of the status line that were as expected. */
  #matched = 0
  /** Bytes of the current line of an interim answer. */
  #length = 0

  /** The next bytes are the beginning of an answer. */
  expect(): void {
    this.#state = 'start'
    this.#matched = 0
  }

  /** Sees all that is read of a new connection. */
  watch(connection: Readable): void {
    this.expect()
    const read = connection.read.bind(connection)
    connection.read = (size) => {
      const chunk: unknown = read(size)
      if (Buffer.isBuffer(chunk)) this.pass(chunk)
      return chunk
    }
  }

  /** Sees the next bytes, and changes them in place. */
  pass(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && this.#state !== 'final'; at++) {
      const byte = chunk[at] as number
      if (this.#state === 'interim') this.#inInterim(byte)
      else this.#atStart(byte, chunk, at)
    }
  }

  #atStart(byte: number, chunk: Buffer, at: number): void {
    if (this.#matched < START.length) {
      const isBlank = this.#matched === 0 && (byte === CR || byte === LF)
      if (isBlank) return
      if (byte !== START[this.#matched]) this.#state = 'final'
      this.#matched++
      return
    }
    const isLast = this.#matched > START.length
    if (isLast || byte !== ZERO) {
      if (isLast && byte === ZERO) chunk[at] = TWO
      this.#state = 'interim'
      this.#length = 1
    }
    this.#matched++
  }

  #inInterim(byte: number): void {
    if (byte === CR) return
    if (byte !== LF) this.#length++
    else if (this.#length > 0) this.#length = 0
    else this.expect()
  }
}
