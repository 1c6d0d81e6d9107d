export interface InFlight {
  begin(): void
  /** Call when a response has ended, or its client has left. */
  end(): void
  /** Resolves once all that have begun have ended. */
  idle(): Promise<void>
}

/** Counts the responses that are being written. `onEnd` runs as each of them ends. */
export function createInFlight(onEnd: () => void): InFlight {
  let open = 0
  let waiting: (() => void)[] = []
  return {
    begin() {
      open++
    },
    end() {
      onEnd()
      open--
      if (open > 0) return
      for (const resolve of waiting) resolve()
      waiting = []
    },
    idle: () => (open === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  }
}
