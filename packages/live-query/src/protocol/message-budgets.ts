/**
 * Whatever a WebSocket peer can repeat, and how often in a second. Each is far beyond what an honest client does, and costs
 * this process a few hundredths of a second at most. Beyond it the socket is closed with 1008.
 */
export const MESSAGE_BUDGETS = {
  /** Messages of graphql-transport-ws. A second `connection_init` is an error of its own. */
  connection_init: 2,
  ping: 1_000,
  pong: 1_000,
  /** A client with a full socket can begin all its operations again at once, many times over. */
  subscribe: 10_000,
  complete: 10_000,
  /** A message that by itself closes the socket (4400) may come again until the close has arrived. */
  unknown: 1_000,
  binary: 1_000,
  /** Frames of the WebSocket protocol. Of its close frames the first is the last. */
  'ping frame': 1_000,
  'pong frame': 1_000,
} as const

export type Repeatable = keyof typeof MESSAGE_BUDGETS

/** Frames that one message may come in: whoever sends text in pieces of a kilobyte needs a quarter of it. */
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
