import { backgroundClock, type Clock } from '@vinyasa/base'
import type { Readings } from '../observability/readings-of-workers.ts'
import { Answers } from './answers.ts'
import { isMetricsMessage, sayMetrics } from './metrics-messages.ts'
import type { Peer } from './peer.ts'

/** A worker that does not answer for so long counts with what it said last. */
const COLLECT_MS = 1_000

interface Member {
  readonly answers: Answers
  last: Readings | undefined
}

/** In the first process: gives a worker that is scraped the metrics of all workers, those that have ended among them. */
export class MetricsRelay {
  readonly #onError: (error: unknown) => void
  readonly #clock: Clock
  readonly #members = new Map<Peer, Member>()
  #gathering: Promise<Readings[]> | undefined
  /** Counters never fall: those of workers that have ended stay in the sum. */
  #ended: Promise<Readings | undefined> = Promise.resolve(undefined)

  /** `onError` hears where the numbers of a worker that has ended could not be kept. */
  constructor(onError: (error: unknown) => void, clock: Clock = backgroundClock) {
    this.#onError = onError
    this.#clock = clock
  }

  /** Lets a worker take part. The returned function says that it has ended. */
  add(worker: Peer): () => void {
    const member: Member = { answers: new Answers(this.#clock), last: undefined }
    this.#members.set(worker, member)
    worker.on('message', (message) => {
      if (!isMetricsMessage(message)) return
      const { kind, id, readings } = message
      if (kind === 'ask') void this.#gathered().then((all) => sayMetrics(worker, 'all', id, all))
      if (kind === 'part') {
        member.last = readings[0] ?? member.last
        member.answers.answer(id)
      }
    })
    return () => {
      this.#members.delete(worker)
      member.answers.close()
      const { last } = member
      if (last) this.#ended = this.#ended.then((ended) => this.#withEnded(ended, last))
    }
  }

  async #withEnded(ended: Readings | undefined, last: Readings): Promise<Readings | undefined> {
    try {
      return await sumOf(ended ? [ended, last] : [last])
    } catch (error) {
      this.#onError(error)
      return ended
    }
  }

  /** Scrapes at once are answered together, so that nobody makes each worker read its metrics once for each of them. */
  #gathered(): Promise<Readings[]> {
    this.#gathering ??= this.#gather().finally(() => (this.#gathering = undefined))
    return this.#gathering
  }

  async #gather(): Promise<Readings[]> {
    const asked = [...this.#members].map(([worker, { answers }]) =>
      answers.wait((id) => sayMetrics(worker, 'collect', id), COLLECT_MS),
    )
    await Promise.all(asked)
    // In one turn: a worker that ends counts among those that have, or among those that live.
    const ended = this.#ended
    const living = [...this.#members.values()].flatMap(({ last }) => (last ? [last] : []))
    const sum = await ended
    return sum ? [sum, ...living] : living
  }
}

/** Metrics are loaded where a worker that had some has ended: the first process makes none of its own. */
async function sumOf(all: readonly Readings[]): Promise<Readings> {
  const { sumOfGrowing } = await import('../observability/readings-of-workers.ts')
  return sumOfGrowing(all)
}
