import { backgroundClock, type Clock } from '@vinyasa/base'
import type { Readings } from '../observability/metrics/readings.ts'
import { EndedReadings } from '../observability/metrics/shared-metrics.ts'
import { Answers } from './answers.ts'
import { type MetricsMessage, sayMetrics } from './metrics-messages.ts'
import { listen, type Peer } from './peer.ts'

/** A worker that does not answer for so long counts with what it said last. */
const COLLECT_MS = 1_000

interface Member {
  readonly answers: Answers
  last: readonly Readings[]
}

/** In the first process: gives a worker that is scraped the metrics of all workers, those that have ended among them. */
export class MetricsRelay {
  readonly #clock: Clock
  readonly #members = new Map<Peer, Member>()
  readonly #ended: EndedReadings
  #gathering: Promise<readonly Readings[]> | undefined

  /** `onError` hears where the numbers of a worker that has ended could not be kept. */
  constructor(onError: (error: unknown) => void, clock: Clock = backgroundClock) {
    this.#ended = new EndedReadings(onError)
    this.#clock = clock
  }

  /** Lets a worker take part, from its first `part` on. The returned function says that it has ended. */
  add(worker: Peer): () => void {
    const member: Member = { answers: new Answers(this.#clock), last: [] }
    listen<MetricsMessage>(worker, 'metrics', ({ kind, id, readings }) => {
      if (kind === 'ask') void this.#gathered().then((all) => sayMetrics(worker, 'all', id, all))
      if (kind === 'part') {
        this.#members.set(worker, member)
        member.last = readings
        member.answers.answer(id)
      }
    })
    return () => {
      this.#members.delete(worker)
      member.answers.close()
      if (member.last.length > 0) this.#ended.add(Promise.resolve(member.last))
    }
  }

  /** Scrapes at once are answered together, so that nobody makes each worker read its metrics once for each of them. */
  #gathered(): Promise<readonly Readings[]> {
    this.#gathering ??= this.#gather().finally(() => (this.#gathering = undefined))
    return this.#gathering
  }

  async #gather(): Promise<readonly Readings[]> {
    const asked = [...this.#members].map(([worker, { answers }]) =>
      answers.wait((id) => sayMetrics(worker, 'collect', id), COLLECT_MS),
    )
    await Promise.all(asked)
    // In one turn: a worker that ends counts among those that have, or among those that live.
    const ended = this.#ended.all()
    const living = [...this.#members.values()].flatMap(({ last }) => last)
    return [...(await ended), ...living]
  }
}
