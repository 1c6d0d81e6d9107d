import type { Clock } from '@vinyasa/base'

/** Bounds what waits to be sent on the sockets of a server. */
export interface SendBudget {
  /** `cutOff` is called when more than its own limit waits and nothing has left for a second. */
  open(cutOff: () => void): SocketBudget
}

/** The share of one socket. Bytes are told by the caller, who knows what a message costs beside its text. */
export interface SocketBudget {
  /** Whether the socket is to be cut off rather than given more, as too much waits on all. */
  isOver(): boolean
  wait(bytes: number): void
  /** So many have left, or never will. */
  sent(bytes: number): void
  /** The socket is gone, and what waited on it. */
  close(): void
}

export interface SendBudgetOptions {
  /** Bytes that may wait on one socket of which nothing leaves. */
  readonly perSocket: number
  /** Bytes that may wait on all sockets. Over it, each socket may have its equal part. */
  readonly inAll: number
  readonly clock: Clock
}

/** A socket on which bytes move may have more waiting than its own limit: a burst of answers on a fast network is no stall. */
const STALLED_MS = 1_000

export function createSendBudget({ perSocket, inAll, clock }: SendBudgetOptions): SendBudget {
  let total = 0
  let sockets = 0

  return {
    open(cutOff) {
      let waiting = 0
      let movedAt = 0
      let isClosed = false
      let timer: unknown
      sockets++

      function look(): void {
        timer = undefined
        if (isClosed || waiting <= perSocket) return
        if (clock.now() - movedAt >= STALLED_MS) cutOff()
        else timer = clock.setTimeout(look, STALLED_MS)
      }

      return {
        isOver: () => total > inAll && waiting > inAll / sockets,
        wait(bytes) {
          if (waiting === 0) movedAt = clock.now()
          waiting += bytes
          total += bytes
          if (waiting > perSocket) timer ??= clock.setTimeout(look, STALLED_MS)
        },
        sent(bytes) {
          if (isClosed) return
          waiting -= bytes
          total -= bytes
          movedAt = clock.now()
        },
        close() {
          if (isClosed) return
          isClosed = true
          clock.clearTimeout(timer)
          total -= waiting
          sockets--
        },
      }
    },
  }
}
