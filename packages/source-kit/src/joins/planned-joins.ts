import type { Recorded } from '../plan/recorded.ts'
import { joinedValue, type BatchedJoin, type ItemsByKey } from './batched-join.ts'
import { createJoinCalls, type JoinCalls, type Keyed } from './join-calls.ts'

/** Batched joins of one execution of a plan. All places that select a join with equal arguments share its calls. */
export class PlannedJoins<Join extends BatchedJoin, Asked extends Keyed, Reply> {
  /** Whether graphql-js has taken over the execution and makes the remaining calls. */
  isOver = false
  readonly #calls = new Map<Join, Map<string, JoinCalls<Asked, Reply>>>()
  readonly #itemsIn: (join: Join, reply: Reply) => ItemsByKey

  /** Creates the joins. `itemsIn` groups the items of a reply by key. */
  constructor(itemsIn: (join: Join, reply: Reply) => ItemsByKey) {
    this.#itemsIn = itemsIn
  }

  callsOf(
    join: Join,
    argumentsText: string,
    send: (asked: readonly Asked[]) => Promise<Reply>,
  ): JoinCalls<Asked, Reply> {
    let byArguments = this.#calls.get(join)
    if (!byArguments) this.#calls.set(join, (byArguments = new Map<string, JoinCalls<Asked, Reply>>()))
    let calls = byArguments.get(argumentsText)
    if (!calls) byArguments.set(argumentsText, (calls = createJoinCalls(join.maxBatchSize, send)))
    return calls
  }

  /**
   * Stops the plan from making calls and returns the calls already made. Later invocations return an empty record.
   */
  recorded(): Recorded {
    const joins = new Map<object, (key: string) => Promise<unknown> | undefined>()
    if (!this.isOver)
      for (const [join, byArguments] of this.#calls) joins.set(join, this.#find(join, byArguments))
    this.isOver = true
    return { roots: new Map(), joins }
  }

  #find(
    join: Join,
    byArguments: ReadonlyMap<string, JoinCalls<Asked, Reply>>,
  ): (key: string) => Promise<unknown> | undefined {
    for (const calls of byArguments.values()) calls.stop()
    const items = new Map<Promise<Reply>, Promise<ItemsByKey>>()
    return (argumentsAndKey) => {
      // No text of arguments begins with another one.
      for (const [text, calls] of byArguments) {
        if (!argumentsAndKey.startsWith(text)) continue
        const key = argumentsAndKey.slice(text.length)
        const sent = calls.sentFor(key)
        if (!sent) return undefined
        let found = items.get(sent)
        if (!found) items.set(sent, (found = sent.then((reply) => this.#itemsIn(join, reply))))
        return found.then((byKey) => joinedValue(byKey, key, join.many))
      }
      return undefined
    }
  }
}
