import { type HeldReply, ownerOfWork, type ReplyFlow, type ReplyMemory } from '@vinyasa/base'

/** The memory of a call's message above 256 KiB, while it arrives and until it was read. */
export class LongReply {
  readonly #memory: ReplyMemory
  readonly #caller: unknown
  readonly #flow: ReplyFlow
  #held: HeldReply | undefined
  #bytes = 0

  constructor(memory: ReplyMemory, caller: unknown, flow: ReplyFlow) {
    this.#memory = memory
    this.#caller = caller
    this.#flow = flow
  }

  /** Sets the bytes that the message takes. */
  grow(bytes: number): void {
    this.#held ??= this.#memory.enter(ownerOfWork(this.#caller), this.#flow)
    const more = bytes - this.#bytes
    this.#bytes = bytes
    this.#held.add(more)
  }

  /** Returns the memory, for the caller to leave. */
  take(): HeldReply | undefined {
    const held = this.#held
    this.#held = undefined
    this.#bytes = 0
    return held
  }
}
