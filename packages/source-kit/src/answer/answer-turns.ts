import { answerSizeOf, beginAnswer, type AnswerLimits, type AnswerSize } from '@vinyasa/yoga-internals'
import { GraphQLError, type GraphQLObjectType, type GraphQLResolveInfo } from 'graphql'
import { createAttachment, createTurns, hasLeft } from '@vinyasa/base'
import { fieldsOf } from './fields-of.ts'
import type { HeldAnswers } from './held-answers.ts'

/** Counts the objects that interpreters make, and has those of large answers wait for each other's turns. */
export interface AnswerTurns {
  /**
   * One object more. What it has to wait for, if anything; it rejects where the object is one too many. Nothing is thrown:
   * Yoga's executor would forget the other items of the list, whose failures nobody then hears of.
   */
  count(context: unknown, info: GraphQLResolveInfo, type: GraphQLObjectType): Promise<true> | undefined
}

/** Objects of an answer that never wait: most answers have no more, and batches of joins are as they would be. */
const FREE_OBJECTS = 2_000
/** Objects of one answer that are executed in one turn of the event loop: few enough that what they bring dies young. */
const OBJECTS_A_TURN = 100
/**
 * The most objects that those of one turn may bring: where they bring more, as lists do, fewer go on in a
 * turn from then on, ten at least.
 */
const MADE_A_TURN = 1_000
const LEAST_A_TURN = 10

/** Objects that go on in one turn: they wait for one promise, for those of their own would be most of what an answer holds. */
interface Group {
  readonly turn: Promise<true>
  readonly begin: (isBegun: true) => void
  readonly fail: (refusal: GraphQLError) => void
  members: number
}

/** One answer that has more objects than are free. */
interface Waiting {
  readonly size: AnswerSize
  /** The last come first: what is begun is finished before more is begun, so that little waits. */
  readonly groups: Group[]
  /** Objects of a group. */
  most: number
  isTaking: boolean
}

export function createAnswerTurns(limits: () => AnswerLimits, heldAnswers: HeldAnswers): AnswerTurns {
  const turns = createTurns()
  const large = createAttachment<Waiting>()
  const events = createAttachment<unknown>()

  /**
   * Returns the size of the context's answer; each event of a subscription has its own, though they share a
   * context.
   */
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

  function waitingOf(size: AnswerSize, context: unknown, { operation }: GraphQLResolveInfo): Waiting {
    let known = large.get(size)
    if (known) return known
    // Of others nobody says when they are over.
    if (operation.operation !== 'subscription' && size === answerSizeOf(context)) size.watcher = heldAnswers
    known = { size, groups: [], most: OBJECTS_A_TURN, isTaking: false }
    large.set(size, known)
    return known
  }

  async function take(waiting: Waiting, context: unknown): Promise<void> {
    const { size, groups } = waiting
    waiting.isTaking = true
    let begun = 0
    let before = size.objects
    for (;;) {
      await turns.next()
      const made = size.objects - before
      if (made > MADE_A_TURN) shrink(waiting, begun, made)
      size.watcher?.holds(size, size.heldBytes)
      await heldAnswers.room(size)
      if (hasLeft(context))
        size.giveUp(
          new GraphQLError('The client has left.', { extensions: { code: 'CLIENT_CLOSED_REQUEST' } }),
        )
      const group = groups.pop()
      if (!group) break
      begun = group.members
      before = size.objects
      if (size.refusal) group.fail(size.giveUp())
      else group.begin(true)
    }
    waiting.isTaking = false
  }

  return {
    count(context, info, type) {
      const size = sizeFor(context, info)
      try {
        size.addObject(size.objects < FREE_OBJECTS ? 1 : fieldsOf(type, info))
      } catch (error) {
        return Promise.reject(error as Error)
      }
      if (size.objects <= FREE_OBJECTS) return undefined
      const waiting = waitingOf(size, context, info)
      const { turn } = groupOf(waiting)
      if (!waiting.isTaking) void take(waiting, context)
      return turn
    },
  }
}

function shrink(waiting: Waiting, begun: number, made: number): void {
  const fewer = Math.floor((begun * MADE_A_TURN) / made)
  waiting.most = Math.max(LEAST_A_TURN, Math.min(waiting.most, fewer))
}

/** The group that one more object goes on with. */
function groupOf({ groups, most }: Waiting): Group {
  let group = groups.at(-1)
  if (!group || group.members >= most) groups.push((group = createGroup()))
  group.members++
  return group
}

function createGroup(): Group {
  let begin: Group['begin'] = () => {}
  let fail: Group['fail'] = () => {}
  const turn = new Promise<true>((resolve, reject) => {
    begin = resolve
    fail = reject
  })
  return { turn, begin, fail, members: 0 }
}
