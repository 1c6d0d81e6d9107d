import type { Readings } from './readings.ts'

export type ReadMetrics = () => Promise<Readings>

/** Makes the metrics of one gateway part of those that a scrape is answered with. */
export type ShareMetrics = (read: ReadMetrics) => SharedMetrics

export interface SharedMetrics {
  /** Says that the gateway serves: one that a reload has made may fail before. */
  serve(): void
  /** Says that the gateway has ended: one that a reload has replaced answers until then what it has begun. */
  end(): void
  /** Gives all readings that a scrape adds. */
  all(): Promise<readonly Readings[]>
}

/** Counters never fall: those of gateways and workers that have ended stay in the sum. */
export class EndedReadings {
  readonly #onError: (error: unknown) => void
  #sum: Promise<readonly Readings[]> = Promise.resolve([])

  /** `onError` hears where the numbers of one that has ended could not be kept. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  add(last: Promise<readonly Readings[]>): void {
    this.#sum = this.#sum.then(async (before) => {
      try {
        // The first process of several makes no metrics of its own.
        const { sumOfGrowing } = await import('./readings.ts')
        return [await sumOfGrowing([...before, ...(await last)])]
      } catch (error) {
        this.#onError(error)
        return before
      }
    })
  }

  /** None before something has ended, and one from then on. */
  all(): Promise<readonly Readings[]> {
    return this.#sum
  }
}

/** The metrics of the gateway that a process serves, and of those before it that reloads have replaced. */
export class ServedReadings {
  readonly #ended: EndedReadings
  /** Of gateways that were replaced and still answer. */
  readonly #draining = new Set<ReadMetrics>()
  #serving: ReadMetrics | undefined

  constructor(onError: (error: unknown) => void) {
    this.#ended = new EndedReadings(onError)
  }

  /** The first one serves from the beginning. */
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
    // All are asked for in one turn: a gateway counts as one that serves, that drains or that has ended.
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

/** In a process without others: a scrape is answered for its gateways alone. */
export function shareAmongReloads(onError: (error: unknown) => void): ShareMetrics {
  const served = new ServedReadings(onError)
  return (read) => ({ ...served.add(read), all: () => served.all() })
}
