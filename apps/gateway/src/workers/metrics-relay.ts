import { backgroundClock, type Clock } from '@vinyasa/core'
import type { Readings } from '../observability/metrics/readings.ts'
import { EndedReadings } from '../observability/metrics/shared-metrics.ts'
import { Answers } from './answers.ts'
import { listen, type Peer, send } from './peer.ts'

/**
 * A message between workers and the first process about metrics. A worker takes part with its first `part`. One that is
 * scraped sends `ask`, the first process sends `collect` to each, which answers with `part`, and sends the one that asked `all`.
 */
export interface MetricsMessage {
  readonly vinyasa: 'metrics'
  readonly kind: 'ask' | 'collect' | 'part' | 'all'
  readonly id: number
  /** With `part` those of one worker, with `all` those of every one. */
  readonly readings: readonly Readings[]
}

export function sayMetrics(
  peer: Peer,
  kind: MetricsMessage['kind'],
  id: number,
  readings: readonly Readings[] = [],
): void {
  send<MetricsMessage>(peer, { vinyasa: 'metrics', kind, id, readings })
}

/** A worker that does not answer for so long counts with what it said last. */
const COLLECT_MS = 1_000

interface Member {
  readonly answers: Answers
  last: readonly Readings[]
}

/**
 * In the first process: gives a worker that is scraped the metrics of all workers, including workers that have ended.
 * `onError` is called if the last metrics of a worker are lost. Call the returned function for each worker; the function
 * that it returns, when the worker has ended.
 */
export function createMetricsRelay(
  onError: (error: unknown) => void,
  clock: Clock = backgroundClock,
): (worker: Peer) => () => void {
  const members = new Map<Peer, Member>()
  const ended = new EndedReadings(onError)
  let gathering: Promise<readonly Readings[]> | undefined

  async function gather(): Promise<readonly Readings[]> {
    const asked = [...members].map(([worker, { answers }]) =>
      answers.wait((id) => sayMetrics(worker, 'collect', id), COLLECT_MS),
    )
    await Promise.all(asked)
    // In one turn: a worker that ends counts among those that have, or among those that live.
    const ofEnded = ended.all()
    const living = [...members.values()].flatMap(({ last }) => last)
    return [...(await ofEnded), ...living]
  }

  return (worker) => {
    const member: Member = { answers: new Answers(clock), last: [] }
    listen<MetricsMessage>(worker, 'metrics', ({ kind, id, readings }) => {
      if (kind === 'ask') {
        // Concurrent scrapes share one collection, so that each worker reads its metrics once.
        gathering ??= gather().finally(() => (gathering = undefined))
        void gathering.then((all) => sayMetrics(worker, 'all', id, all))
      }
      if (kind === 'part') {
        members.set(worker, member)
        member.last = readings
        member.answers.answer(id)
      }
    })
    return () => {
      members.delete(worker)
      member.answers.close()
      if (member.last.length > 0) ended.add(Promise.resolve(member.last))
    }
  }
}
