/** Time as the bus and its announcers see it; tests hand in one that stands still. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  setTimeout(callback: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
}

/** The platform's. Its timers alone keep no process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms).unref(),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
}
