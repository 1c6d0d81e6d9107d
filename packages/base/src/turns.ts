import { setImmediate } from 'node:timers'

/** Long work that is done a slice at a time, so that the event loop gets to others in between. */
export interface Turns {
  /** Resolves in a turn of the loop in which nobody else of these gets one. */
  next(): Promise<void>
}

/** About how many bytes of an answer are worked on in one turn of the loop: a millisecond or two. */
export const SLICE_BYTES: number = 64 * 1024

export function createTurns(): Turns {
  const waiting: (() => void)[] = []
  const give = (): void => {
    waiting.shift()?.()
    if (waiting.length > 0) setImmediate(give)
  }
  return {
    next: () =>
      new Promise((resolve) => {
        if (waiting.push(resolve) === 1) setImmediate(give)
      }),
  }
}
