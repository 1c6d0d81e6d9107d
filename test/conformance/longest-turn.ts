import { performance } from 'node:perf_hooks'

export interface Watched<T> {
  readonly result: T
  /** The longest that others in the same process waited meanwhile. */
  readonly longestMs: number
}

/**
 * Runs something beside a timer that is due each millisecond. Of the time between two of its ticks no more counts than this
 * process was given of a processor: on a busy machine the rest is others'.
 */
export async function watchTurns<T>(run: () => Promise<T>): Promise<Watched<T>> {
  let longestMs = 0
  let last = now()
  const look = (): void => {
    const next = now()
    longestMs = Math.max(longestMs, Math.min(next.wallMs - last.wallMs, next.usedMs - last.usedMs))
    last = next
  }
  const timer = setInterval(look, 1)
  try {
    const result = await run()
    // A long turn at the end is not over before the next tick.
    await new Promise((resolve) => setTimeout(resolve, 1))
    look()
    return { result, longestMs }
  } finally {
    clearInterval(timer)
  }
}

function now(): { readonly wallMs: number; readonly usedMs: number } {
  const { user, system } = process.cpuUsage()
  return { wallMs: performance.now(), usedMs: (user + system) / 1_000 }
}
