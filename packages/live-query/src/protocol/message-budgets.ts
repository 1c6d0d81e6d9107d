/**
 * Limits per second for messages that a WebSocket peer can repeat. They exceed the needs of regular clients, and cost
 * this process a few hundredths of a second at most. A socket over a limit is closed with 1008.
 */
export const MESSAGE_BUDGETS = {
  /** Messages of graphql-transport-ws. A second `connection_init` is a separate error. */
  connection_init: 2,
  ping: 1_000,
  pong: 1_000,
  /** A client with the maximum number of operations can restart all of them several times. */
  subscribe: 10_000,
  complete: 10_000,
  /** A message that closes the socket (4400) can arrive again until the close has arrived. */
  unknown: 1_000,
  binary: 1_000,
  /** Frames of the WebSocket protocol. The first close frame is also the last. */
  'ping frame': 1_000,
  'pong frame': 1_000,
} as const

export type Repeatable = keyof typeof MESSAGE_BUDGETS

/**
 * Maximum number of frames of one message. A client that sends text in pieces of one kilobyte needs a quarter of it.
 */
export const MAX_FRAGMENTS = 1_024

const SECOND_MS = 1_000

/** Counts the messages of one socket. The returned function returns false if the socket exceeds its limit in this second. */
export function createMessageBudgets(now: () => number): (what: Repeatable) => boolean {
  const counts = new Map<Repeatable, number>()
  let since = -Infinity
  return (what) => {
    const time = now()
    if (time - since >= SECOND_MS) {
      since = time
      counts.clear()
    }
    const count = (counts.get(what) ?? 0) + 1
    counts.set(what, count)
    return count <= MESSAGE_BUDGETS[what]
  }
}
