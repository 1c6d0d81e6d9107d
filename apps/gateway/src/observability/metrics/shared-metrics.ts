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
export class ServedReadings {
  readonly #ended: EndedReadings
  /** Replaced gateways that still have requests in flight. */
  readonly #draining = new Set<ReadMetrics>()
  #serving: ReadMetrics | undefined

  constructor(onError: (error: unknown) => void) {
    this.#ended = new EndedReadings(onError)
  }

  /** The first gateway counts as serving immediately. */
  add(read: ReadMetrics): Pick<SharedMetrics, 'serve' | 'end'> {
    this.#serving ??= read
    return {
      serve: () => {
        if (this.#serving && this.#serving !== read) this.#draining.add(this.#serving)
        this.#serving = read
      },
      end: () => {
        if (this.#draining.delete(read)) this.#ended.add(read().then((last) => [last]))
      },
    }
  }

  async all(): Promise<readonly Readings[]> {
    // Read in the same tick, so that each gateway counts exactly once: as serving, draining or ended.
    const [ended, serving, ...draining] = await Promise.all([
      this.#ended.all(),
      this.#serving?.(),
      ...[...this.#draining].map((read) => read()),
    ])
    const before = [...ended, ...draining]
    if (draining.length === 0) return serving ? [...before, serving] : before
    const { sumOfGrowing } = await import('./readings.ts')
    return [await sumOfGrowing(before), ...(serving ? [serving] : [])]
  }
}

/** Shares metrics between the gateways of a single process. */
export function shareAmongReloads(onError: (error: unknown) => void): ShareMetrics {
  const served = new ServedReadings(onError)
  return (read) => ({ ...served.add(read), all: () => served.all() })
}
