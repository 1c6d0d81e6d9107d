/**
 * Brokers that were reached before, by their settings: one of these that does not answer just then stops no reload and no worker
 * that takes another's place, as it does not stop the gateway that runs.
 */
export type ReachedBrokers = Pick<Set<string>, 'add' | 'has'>

export interface ReachedMessage {
  readonly vinyasa: 'reached'
  readonly broker: string
}

const VARIABLE = 'VINYASA_REACHED_BROKERS'

/** In a worker: those that any worker has reached by the time it began, and its own, of which it tells the first process. */
export function reachedByWorkers(
  environment: Readonly<Record<string, string | undefined>>,
  tell: (message: ReachedMessage) => void,
): ReachedBrokers {
  const reached = new Set(environment[VARIABLE]?.split(','))
  return {
    has: (broker) => reached.has(broker),
    add(broker) {
      if (!reached.has(broker)) tell({ vinyasa: 'reached', broker })
      return reached.add(broker)
    },
  }
}

/** What a worker that begins is to find in its environment. */
export function reachedVariable(reached: ReadonlySet<string>): Readonly<Record<string, string>> {
  return { [VARIABLE]: [...reached].join() }
}
