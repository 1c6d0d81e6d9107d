import type { InvalidationEvent } from '@vinyasa/invalidation'
import { Answers } from './answers.ts'
import { isBusMessage, say, type Peer } from './bus-messages.ts'

export interface BusRelay {
  /** Lets a worker take part from its `join` on; the returned function says that it has ended. */
  add(worker: Peer): () => void
}

const ANYTHING: readonly InvalidationEvent[] = [{ entityType: '*', operation: '*' }]

/** In the first process: passes what a worker publishes to all others, and tells it when they have applied it. */
export function createBusRelay(boundMs = 1000): BusRelay {
  const members = new Map<Peer, { readonly answers: Answers; isLate: boolean }>()

  async function relay(sender: Peer, events: readonly InvalidationEvent[]): Promise<void> {
    const others = [...members].filter(([peer]) => peer !== sender)
    await Promise.all(
      others.map(async ([peer, member]) => {
        // One that did not answer is not waited for again until it does.
        if (member.isLate) return say(peer, 'apply', 0, events)
        if (!(await member.answers.wait((id) => say(peer, 'apply', id, events)))) member.isLate = true
      }),
    )
  }

  return {
    add(worker) {
      worker.on('message', (message) => {
        if (!isBusMessage(message)) return
        const member = members.get(worker)
        if (message.kind === 'join') members.set(worker, { answers: new Answers(boundMs), isLate: false })
        if (message.kind === 'publish')
          void relay(worker, message.events).then(() => say(worker, 'told', message.id))
        if (message.kind !== 'applied' || !member) return
        member.answers.answer(message.id)
        if (!member.isLate) return
        member.isLate = false
        say(worker, 'apply', 0, ANYTHING)
      })
      return () => {
        members.get(worker)?.answers.close()
        members.delete(worker)
      }
    },
  }
}
