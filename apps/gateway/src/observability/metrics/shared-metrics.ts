import type { Readings } from './readings.ts'

export type ReadMetrics = () => Promise<Readings>

/** Adds the metrics of one gateway to the response of a scrape. */
export type ShareMetrics = (read: ReadMetrics) => SharedMetrics

export interface SharedMetrics {
  /** Call when the gateway serves its first request. A gateway created by a reload can fail earlier. */
  serve(): void
  /** Call when the gateway has ended. After a reload, the old gateway completes its requests first. */
  end(): void
  /** Returns all readings that a scrape combines. */
  all(): Promise<readonly Readings[]>
}

/** Keeps the counters of gateways and workers that have ended, because counters must never fall. */
export class EndedReadings {
  readonly #onError: (error: unknown) => void
  #sum: Promise<readonly Readings[]> = Promise.resolve([])

  /** `onError` is called if the last reading of a gateway is lost. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  add(last: Promise<readonly Readings[]>): void {
    this.#sum = this.#sum.then(async (before) => {
      try {
        // Imported late, because the primary process of a cluster does not create metrics.
        const { sumOfGrowing } = await import('./readings.ts')
        return [await sumOfGrowing([...before, ...(await last)])]
      } catch (error) {
        this.#onError(error)
        return before
      }
    })
  }

  /** Returns an empty list until the first gateway has ended, and one combined reading afterwards. */
  all(): Promise<readonly Readings[]> {
    return this.#sum
  }
}

/** The metrics of the current gateway of a process, and of the gateways that reloads have replaced. */
export function createServedReadings(onError: (error: unknown) => void): {
  readonly add: (read: ReadMetrics) => Pick<SharedMetrics, 'serve' | 'end'>
  readonly all: SharedMetrics['all']
} {
  const ended = new EndedReadings(onError)
  /** Replaced gateways that still have requests in flight. */
  const draining = new Set<ReadMetrics>()
  let serving: ReadMetrics | undefined

  async function all(): Promise<readonly Readings[]> {
    // Read in the same tick, so that each gateway counts exactly once: as serving, draining or ended.
    const [ofEnded, ofServing, ...ofDraining] = await Promise.all([
      ended.all(),
      serving?.(),
      ...[...draining].map((read) => read()),
    ])
    const before = [...ofEnded, ...ofDraining]
    if (ofDraining.length === 0) return ofServing ? [...before, ofServing] : before
    const { sumOfGrowing } = await import('./readings.ts')
    return [await sumOfGrowing(before), ...(ofServing ? [ofServing] : [])]
  }

  return {
    all,
    add(read) {
      // The first gateway counts as serving immediately.
      serving ??= read
      return {
        serve() {
          if (serving && serving !== read) draining.add(serving)
          serving = read
        },
        end() {
          if (draining.delete(read)) ended.add(read().then((last) => [last]))
        },
      }
    },
  }
}

/** Shares metrics between the gateways of a single process. */
export function shareAmongReloads(onError: (error: unknown) => void): ShareMetrics {
  const { add, all } = createServedReadings(onError)
  return (read) => ({ ...add(read), all })
}
