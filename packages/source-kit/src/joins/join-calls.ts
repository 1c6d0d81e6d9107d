import { systemClock } from '@vinyasa/core'
import { groupBy } from '../schema/group-by.ts'

/** Request for the items of one key. */
export interface Keyed {
  readonly key: string
}

/**
 * Calls of one joined field in one execution, batched as in DataLoader. Requests of the same tick share a call, and
 * each key is requested once.
 */
export interface JoinCalls<Asked extends Keyed, Reply> {
  /** Requests a key unless it was already requested. Returns the call to wait for. */
  ask(asked: Asked): JoinBatch
  /** Returns the reply that contains a key; `undefined` if there is none yet. */
  replyFor(key: string): Reply | undefined
  /** Returns the promise of the call that requested a key. */
  sentFor(key: string): Promise<Reply> | undefined
  /** Sends no more calls. */
  stop(): void
}

/** Call of a join. Keys can be added until it is sent. */
export interface JoinBatch {
  /**
   * Waits for this call and for the calls that load the remaining keys. The keys of this call come first in the
   * result.
   */
  arrive<Asked extends Keyed>(asked: readonly Asked[]): Promise<readonly Asked[]>
}

/** `maxBatchSize`: keys that one call takes. */
export function createJoinCalls<Asked extends Keyed, Reply>(
  maxBatchSize: number,
  send: (asked: readonly Asked[]) => Promise<Reply>,
): JoinCalls<Asked, Reply> {
  const byKey = new Map<string, Batch<Asked, Reply>>()
  let open: Batch<Asked, Reply> | undefined
  let isOver = false

  function openBatch(): Batch<Asked, Reply> {
    if (open && open.asked.length < maxBatchSize) return open
    const batch = new Batch<Asked, Reply>(byKey)
    open = batch
    afterPromises(() => {
      if (open === batch) open = undefined
      batch.send(isOver ? undefined : send)
    })
    return batch
  }

  return {
    ask(asked) {
      // With DataLoader, who asks again for a key waits for the call that others ask for meanwhile.
      const batch = openBatch()
      if (!byKey.has(asked.key)) {
        byKey.set(asked.key, batch)
        batch.asked.push(asked)
      }
      return batch
    },
    replyFor: (key) => byKey.get(key)?.reply,
    sentFor: (key) => byKey.get(key)?.sent,
    stop: () => void (isOver = true),
  }
}

class Batch<Asked extends Keyed, Reply> implements JoinBatch {
  readonly asked: Asked[] = []
  sent: Promise<Reply> | undefined
  reply: Reply | undefined
  /** When there is nothing to wait for any more. */
  readonly done: Promise<void>
  #end: (sent?: Promise<void>) => void = () => {}
  readonly #byKey: ReadonlyMap<string, Batch<Asked, Reply>>

  constructor(byKey: ReadonlyMap<string, Batch<Asked, Reply>>) {
    this.#byKey = byKey
    this.done = new Promise((resolve) => (this.#end = resolve))
    // Whoever waits for several calls hears of the first failure, and leaves those of the others unhandled.
    this.done.catch(() => {})
  }

  send(send: ((asked: readonly Asked[]) => Promise<Reply>) | undefined): void {
    if (!send || this.asked.length === 0) return this.#end()
    this.sent = send(this.asked)
    this.#end(this.sent.then((reply) => void (this.reply = reply)))
  }

  async arrive<Some extends Keyed>(asked: readonly Some[]): Promise<readonly Some[]> {
    const isNew = ({ key }: Keyed): boolean => this.#byKey.get(key) === this
    try {
      await this.done
    } catch (error) {
      // Whose keys others brought has waited for a call that is none of theirs.
      if (asked.some(isNew)) throw error
    }
    if (asked.every(isNew)) return asked
    for (const other of new Set(asked.map(({ key }) => this.#byKey.get(key)))) await other?.done
    return [...asked.filter(isNew), ...asked.filter((one) => !isNew(one))]
  }
}

/** Requests all keys. Calls `next` for each group of keys that one call loads. */
export async function askAll<Asked extends Keyed>(
  all: readonly Asked[],
  ask: (asked: Asked) => JoinBatch,
  next: (arrived: readonly Asked[]) => Promise<void> | void,
): Promise<void> {
  await Promise.all([...groupBy(all, ask)].map(async ([batch, asked]) => next(await batch.arrive(asked))))
}

/** After all that promises which are settled now have in store: like DataLoader, to wait for all who are about to ask. */
function afterPromises(run: () => void): void {
  queueMicrotask(() => later(run))
}

/** Web platforms have no ticks. */
const later: (run: () => void) => void =
  typeof process === 'object' && typeof process.nextTick === 'function'
    ? (run) => process.nextTick(run)
    : (run) => void systemClock.setTimeout(run, 0)
