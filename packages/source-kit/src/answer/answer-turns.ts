import { answerSizeOf, beginAnswer, type AnswerLimits, type AnswerSize } from '@vinyasa/yoga-internals'
import { GraphQLError, type GraphQLResolveInfo } from 'graphql'
import { createAttachment } from '../attachment.ts'
import { createTurns } from '../turns.ts'

/** Counts the objects that interpreters make, and has those of large answers wait for each other's turns. */
export interface AnswerTurns {
  /**
   * One object more. What it has to wait for, if anything; it rejects where the object is one too many. Nothing is thrown:
   * Yoga's executor would forget the other items of the list, whose failures nobody then hears of.
   */
  count(context: unknown, info: GraphQLResolveInfo): Promise<void> | undefined
}

/** Objects of an answer that never wait: most answers have no more, and batches of joins are as they would be. */
const FREE_OBJECTS = 5_000
/** Objects of one answer that are executed in one turn of the event loop. */
const OBJECTS_A_TURN = 500

/** One answer that has more objects than are free. */
interface Waiting {
  readonly size: AnswerSize
  /** The last come first: what is begun is finished before more is begun, so that little waits. */
  readonly objects: (() => void)[]
  isTaking: boolean
}

export function createAnswerTurns(limits: () => AnswerLimits): AnswerTurns {
  const turns = createTurns()
  const large = createAttachment<Waiting>()
  const events = createAttachment<unknown>()

  /** Of the context; each event of a subscription has its own, though they share one. */
  function sizeFor(
    context: unknown,
    { operation, rootValue, variableValues }: GraphQLResolveInfo,
  ): AnswerSize {
    const known = answerSizeOf(context)
    if (operation.operation !== 'subscription')
      // A context that another plugin has put in place of its own.
      return known ?? answerSizeOf(variableValues) ?? beginAnswer(variableValues, limits())
    if (known && events.get(known) === rootValue) return known
    const size = beginAnswer(context, limits())
    events.set(size, rootValue)
    return size
  }

  function waitingOf(size: AnswerSize): Waiting {
    let known = large.get(size)
    if (!known) large.set(size, (known = { size, objects: [], isTaking: false }))
    return known
  }

  async function take(waiting: Waiting, context: unknown): Promise<void> {
    const { size, objects } = waiting
    waiting.isTaking = true
    while (objects.length > 0) {
      await turns.next()
      if (hasLeft(context)) size.giveUp(nobodyWaits())
      for (const go of objects.splice(-OBJECTS_A_TURN)) go()
      // They ask for more before the next turn.
      if (objects.length === 0) await turns.next()
    }
    waiting.isTaking = false
  }

  return {
    count(context, info) {
      const size = sizeFor(context, info)
      try {
        size.addObject()
      } catch (error) {
        return Promise.reject(error as Error)
      }
      if (size.objects <= FREE_OBJECTS) return undefined
      const waiting = waitingOf(size)
      const turn = new Promise<void>((resolve, reject) => {
        waiting.objects.push(() => (size.refusal ? reject(size.giveUp()) : resolve()))
      })
      if (!waiting.isTaking) void take(waiting, context)
      return turn
    },
  }
}

function hasLeft(context: unknown): boolean {
  const { request } = Object(context) as { readonly request?: { readonly signal?: AbortSignal } }
  return request?.signal?.aborted === true
}

function nobodyWaits(): GraphQLError {
  return new GraphQLError('The client has left.', { extensions: { code: 'CLIENT_CLOSED_REQUEST' } })
}
