import { setImmediate } from 'node:timers'
import { answerSizeOf, beginAnswer, type AnswerLimits, type AnswerSize } from '@vinyasa/yoga-internals'
import { GraphQLError, type GraphQLObjectType, type GraphQLResolveInfo } from 'graphql'
import { createAttachment, createTurns, drained, hasLeft, ownerOf, systemClock, TURN_MS } from '@vinyasa/base'
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

/** Objects of an answer that wait only if they are slow: most answers have no more, and joins load them in one batch. */
const FREE_OBJECTS = 2_000
/** Objects that never wait, so that small operations do not read the clock. */
const UNTIMED_OBJECTS = 32
/** Objects are slow if each takes longer on average, over so long a time that new code is not slow. */
const SLOW_MS = 0.6
const SLOW_TICK_MS = 30
/** Objects of one field that continue together, until it is known how long they take. */
const FIRST_OBJECTS = 4
const MOST_OBJECTS = 100
/** Groups that take longer get smaller. */
const GROUP_MS = 1

/** Objects that go on in one turn: they wait for one promise, for those of their own would be most of what an answer holds. */
interface Group {
  readonly turn: Promise<true>
  readonly begin: (isBegun: true) => void
  readonly fail: (refusal: GraphQLError) => void
  readonly field: unknown
  members: number
}

/** One answer that has more objects than are free. */
interface Waiting {
  readonly size: AnswerSize
  /** The last come first: what is begun is finished before more is begun, so that little waits. */
  readonly groups: Group[]
  /** Objects of a group, by the field that they come from. */
  readonly most: Map<unknown, number>
  isTaking: boolean
}

/** Milliseconds that this process has worked, without those in which others did; of the clock on platforms that do not say. */
function workedMs(): number {
  if (globalThis.process?.release?.name !== 'node') return systemClock.now()
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

interface Tick {
  readonly since: number
  readonly worked: number
  objects: number
}
let tick: Tick | undefined

/** Counts an object, and returns whether those of the current tick are slow. */
function areSlow(): boolean {
  if (!tick) {
    tick = { since: systemClock.now(), worked: workedMs(), objects: 0 }
    setImmediate(() => (tick = undefined))
  }
  const leastMs = Math.max(SLOW_TICK_MS, SLOW_MS * ++tick.objects)
  return systemClock.now() - tick.since > leastMs && workedMs() - tick.worked > leastMs
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
    known = { size, groups: [], most: new Map(), isTaking: false }
    large.set(size, known)
    return known
  }

  async function take(waiting: Waiting, context: unknown): Promise<void> {
    const { size, groups } = waiting
    const owner = ownerOf(context)
    waiting.isTaking = true
    do {
      await turns.next(owner)
      const from = systemClock.now()
      do {
        size.watcher?.holds(size, size.heldBytes)
        await heldAnswers.room(size)
        if (hasLeft(context))
          size.giveUp(
            new GraphQLError('The client has left.', { extensions: { code: 'CLIENT_CLOSED_REQUEST' } }),
          )
        const group = groups.pop()
        if (!group) break
        const began = systemClock.now()
        if (size.refusal) group.fail(size.giveUp())
        else group.begin(true)
        await drained()
        waiting.most.set(group.field, fitting(group.members, systemClock.now() - began))
      } while (groups.length > 0 && systemClock.now() - from < TURN_MS)
    } while (groups.length > 0)
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
      const isFree = size.objects <= FREE_OBJECTS && (size.objects <= UNTIMED_OBJECTS || !areSlow())
      if (isFree) return undefined
      const waiting = waitingOf(size, context, info)
      const { turn } = groupOf(waiting, info.fieldNodes[0])
      if (!waiting.isTaking) void take(waiting, context)
      return turn
    },
  }
}

/** Returns how many objects should continue together after a group of `members` took so long. */
function fitting(members: number, tookMs: number): number {
  return Math.max(
    1,
    Math.min(MOST_OBJECTS, tookMs > GROUP_MS ? Math.floor((members * GROUP_MS) / tookMs) : 2 * members),
  )
}

/** Returns the group that one more object of a field continues with. */
function groupOf({ groups, most }: Waiting, field: unknown): Group {
  let group = groups.at(-1)
  const isFull = !group || group.field !== field || group.members >= (most.get(field) ?? FIRST_OBJECTS)
  if (!group || isFull) groups.push((group = createGroup(field)))
  group.members++
  return group
}

function createGroup(field: unknown): Group {
  let begin: Group['begin'] = () => {}
  let fail: Group['fail'] = () => {}
  const turn = new Promise<true>((resolve, reject) => {
    begin = resolve
    fail = reject
  })
  return { turn, begin, fail, field, members: 0 }
}
