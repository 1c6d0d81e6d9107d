import type { InvalidationBus } from '@vinyasa/invalidation'
import { Answers } from './answers.ts'
import { isBusMessage, say, type Peer } from './bus-messages.ts'

/** In a worker: `publish` resolves when the other workers have applied the events too, or after `boundMs`. */
export function createWorkerBus(first: Peer, local: InvalidationBus, boundMs = 1500): InvalidationBus {
  const answers = new Answers(boundMs)
  first.on('message', (message) => {
    if (!isBusMessage(message)) return
    if (message.kind === 'told') answers.answer(message.id)
    if (message.kind === 'apply')
      void local.publish(message.events).then(() => say(first, 'applied', message.id))
  })
  say(first, 'join', 0)
  return {
    async publish(events) {
      if (events.length === 0) return
      await Promise.all([
        local.publish(events),
        first.isConnected() && answers.wait((id) => say(first, 'publish', id, events)),
      ])
    },
    subscribe: local.subscribe,
  }
}
