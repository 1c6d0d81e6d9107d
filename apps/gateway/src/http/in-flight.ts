import type { ServerResponse } from 'node:http'

export interface InFlight {
  add(response: ServerResponse): void
  /** Resolves once every response that was added has ended or its client has left. */
  idle(): Promise<void>
}

/** Counts the responses that are being written. */
export function createInFlight(): InFlight {
  let open = 0
  let waiting: (() => void)[] = []
  return {
    add(response) {
      open++
      response.once('close', () => {
        open--
        if (open > 0) return
        for (const resolve of waiting) resolve()
        waiting = []
      })
    },
    idle: () => (open === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  }
}
