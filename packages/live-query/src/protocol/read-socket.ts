import type { LiveSocket } from './live-socket.ts'

/** With more bytes unsent than this a socket takes no more before it has caught up. */
const HIGH_WATER_BYTES = 16 * 1024

/** A socket that knows whether its client reads what it is sent. */
export class ReadSocket implements Pick<LiveSocket, 'send' | 'close' | 'hold'> {
  readonly #socket: LiveSocket
  readonly #onCaughtUp: () => void
  #isBehind = false
  #waiting: (() => void)[] = []

  /** `onCaughtUp` is called each time that it takes more again. */
  constructor(socket: LiveSocket, onCaughtUp: () => void) {
    this.#socket = socket
    this.#onCaughtUp = onCaughtUp
  }

  /** Whether it takes more now. */
  isReady(): boolean {
    this.#isBehind ||= this.#socket.bufferedBytes() > HIGH_WATER_BYTES
    return !this.#isBehind
  }

  /** Resolves when it takes more; never, where it does not before it closes. */
  whenReady(): Promise<void> {
    return this.isReady() ? Promise.resolve() : new Promise((resolve) => void this.#waiting.push(resolve))
  }

  send(text: string, shared?: Buffer, onSent?: () => void): void {
    this.#socket.send(text, shared, () => {
      onSent?.()
      this.#look()
    })
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason)
  }

  hold(bytes: number): void {
    this.#socket.hold(bytes)
  }

  #look(): void {
    if (!this.#isBehind || this.#socket.bufferedBytes() > HIGH_WATER_BYTES) return
    this.#isBehind = false
    const waiting = this.#waiting
    this.#waiting = []
    this.#onCaughtUp()
    for (const resolve of waiting) resolve()
  }
}
