import { ErrorCode, Http2ProtocolError } from './codes.ts'

/** The frames of one kind that a peer may send on one connection before the connection ends. */
export interface FrameBudget {
  /** The kind as errors name it. */
  readonly name: string
  /** In a second, whatever they are for. */
  readonly perSecond: number
  /** Beyond that, for each call that runs or began in this second. */
  readonly perCall: number
}

/** Data that costs more than it brings: fewer bytes than this. Windows bound what brings more. */
export const SMALL_DATA_BYTES = 32
/** A frame counts once, and once more for each whole KiB of it. */
const COUNTED_SHIFT = 10
const SECOND_MS = 1_000

/** Kinds beside the types of RFC 9113, section 6. */
export const Kind = { UNKNOWN: 10, SMALL_DATA: 11, UNWANTED_DATA: 12 } as const

/**
 * Whatever a peer can send again and again, by type or
 * kind, which are places here. An honest server stays far below; a hostile one gets some hundredths of
 * a processor. A server may measure the line (gRPC's in Go does, with a PING for each DATA frame that it reads).
 */
export const FRAME_BUDGETS: readonly FrameBudget[] = [
  { name: 'empty DATA', perSecond: 10_000, perCall: 2 },
  // Interim ones, the first, the last. Small fields make a KiB cost 50 µs.
  { name: 'HEADERS', perSecond: 2_000, perCall: 8 },
  { name: 'PRIORITY', perSecond: 10_000, perCall: 0 },
  { name: 'RST_STREAM', perSecond: 10_000, perCall: 1 },
  { name: 'SETTINGS', perSecond: 1_000, perCall: 1 },
  // Pushes were declined: the first one is an error of its own.
  { name: 'PUSH_PROMISE', perSecond: 1, perCall: 0 },
  { name: 'PING', perSecond: 10_000, perCall: 2 },
  // Two are a farewell; each is held against every call that runs.
  { name: 'GOAWAY', perSecond: 50, perCall: 0 },
  { name: 'WINDOW_UPDATE', perSecond: 20_000, perCall: 4 },
  // A block that is too large fails its call alone, and is read to its end.
  { name: 'CONTINUATION', perSecond: 4_000, perCall: 8_192 },
  { name: 'unknown type', perSecond: 10_000, perCall: 0 },
  // Streams of very small messages are honest, and take their time where they are decoded.
  { name: 'small DATA', perSecond: 250_000, perCall: 2 },
  // Beyond what was under way when a call was given up (`forgive`).
  { name: 'DATA for ended calls', perSecond: 50_000, perCall: 0 },
]

/** Counts a peer's frames. Beyond a budget the peer is told to calm itself, and left. */
export class FrameBudgets {
  readonly #counts = new Int32Array(FRAME_BUDGETS.length)
  #since = -Infinity
  #calls = 0

  /** Begins a new count where another second has begun; `running`: calls that are owed an answer. */
  at(now: number, running: number): void {
    // Clocks may be set back.
    if (now >= this.#since && now - this.#since < SECOND_MS) return
    this.#since = now
    // Frames that were forgiven, which count below zero, may come later.
    for (let kind = 0; kind < this.#counts.length; kind++)
      if ((this.#counts[kind] as number) > 0) this.#counts[kind] = 0
    this.#calls = running
  }

  /** A call began. */
  begin(): void {
    this.#calls++
  }

  /** So many bytes of this kind will come that the peer is not to blame for. */
  forgive(kind: number, bytes: number): void {
    this.#counts[kind] = (this.#counts[kind] as number) - (bytes >> COUNTED_SHIFT) - 1
  }

  /** @throws Http2ProtocolError when it is one too many */
  count(kind: number, bytes: number): void {
    const counted = ((this.#counts[kind] as number) += 1 + (bytes >> COUNTED_SHIFT))
    const budget = FRAME_BUDGETS[kind] as FrameBudget
    if (counted <= budget.perSecond) return
    if (counted <= budget.perSecond + budget.perCall * this.#calls) return
    throw new Http2ProtocolError(
      ErrorCode.ENHANCE_YOUR_CALM,
      `the server sent too many HTTP/2 frames (${budget.name}) in one second`,
    )
  }
}
