import { setImmediate } from 'node:timers'
import { after, createAttachment, createTurns, drained, ownerOf, systemClock, TURN_MS } from '@vinyasa/core'
import {
  getNamedType,
  getNullableType,
  type GraphQLError,
  type GraphQLList,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  isLeafType,
  isListType,
} from 'graphql'
import { giveUpIfLeft } from './bound-answer.ts'
import type { HeldAnswers } from './held-answers.ts'
import {
  collectFields,
  answerSizeOf,
  beginAnswer,
  type AnswerLimits,
  type AnswerSize,
} from '@vinyasa/core/documents'

/** By the nodes that interpreters collect once for all objects of a list. */
const fieldCounts = createAttachment<Map<GraphQLObjectType, number>>()

/** Returns how many fields an object that `info` leads to has in the answer at most: what directives skip counts. */
export function fieldsOf(type: GraphQLObjectType, info: GraphQLResolveInfo): number {
  const { fieldNodes } = info
  let counts = fieldCounts.get(fieldNodes)
  if (!counts) fieldCounts.set(fieldNodes, (counts = new Map()))
  let count = counts.get(type)
  if (count === undefined) counts.set(type, (count = countFields(type, info)))
  return count
}

function countFields(type: GraphQLObjectType, { fieldNodes, fragments, schema }: GraphQLResolveInfo): number {
  const sets = fieldNodes.flatMap(({ selectionSet }) => selectionSet ?? [])
  return collectFields({ fragments: new Map(Object.entries(fragments)), type, schema }, sets).size
}

/** Counts the objects that interpreters make, and has those of large answers wait for each other's turns. */
export interface AnswerTurns {
  /**
   * One object more. What it has to wait for, if anything; it rejects where the object is one too many. Nothing is thrown:
   * Yoga's executor would forget the other items of the list, whose failures nobody then hears of.
   */
  count(context: unknown, info: GraphQLResolveInfo, type: GraphQLObjectType): Promise<true> | undefined
  /** What the resolver of a list of lists waits for: others hold much, or keep the tick busy. */
  beforeList(context: unknown, info: GraphQLResolveInfo): Promise<true> | undefined
  /**
   * Counts the values without fields in a list of a resolver; it rejects over a limit. Returns the list; of a long list of lists, those that it has are
   * promises, which wait for their turns: each is completed in one go.
   */
  pace(context: unknown, info: GraphQLResolveInfo, value: unknown): unknown
}

/** Objects of an answer that wait only if they are slow: most answers have no more, and joins load them in one batch. */
const FREE_OBJECTS = 2_000
/** So many values without fields take as long as an object. */
const ITEMS_AN_OBJECT = 4
/** A list of a list is held as so many values more. */
const ROW_ITEMS = 4
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
/** An object that waits, with the promises of the interpreter. */
const WAITING_BYTES = 400

type ListType = GraphQLList<GraphQLOutputType>

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
  /** Objects of all groups. */
  members: number
  isTaking: boolean
  /** Some of its resolvers of lists waited: nobody knows what they bring. */
  awaitsLists: boolean
}

/** Milliseconds that this process has worked, without those in which others did; of the clock on platforms that do not say. */
function workedMs(): number {
  try {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  } catch {
    // Browsers have no `process`, and Cloudflare's method throws.
    return systemClock.now()
  }
}

interface Tick {
  readonly since: number
  readonly worked: number
  objects: number
  /** The answer of the last object. */
  last: AnswerSize
  isSlow: boolean
}
let tick: Tick | undefined

/** Counts an object of an answer, and returns whether it should wait because those of the current tick are slow. */
function areSlow(size: AnswerSize): boolean {
  // Small answers alone do not read clocks.
  if (!tick && size.objects <= UNTIMED_OBJECTS) return false
  tick ??= beginTick(size)
  const isAnother = tick.last !== size
  tick.last = size
  tick.objects++
  if (tick.isSlow || (size.objects <= UNTIMED_OBJECTS && !isAnother)) return tick.isSlow
  // One answer may take longer, so that its joins stay whole. What answers make together in one tick may not.
  const leastMs = isAnother || tick.objects > FREE_OBJECTS ? SLOW_TICK_MS : SLOW_MS * tick.objects
  return isOver(tick, Math.max(SLOW_TICK_MS, leastMs))
}

function beginTick(size: AnswerSize): Tick {
  setImmediate(() => (tick = undefined))
  return { since: systemClock.now(), worked: workedMs(), objects: 0, last: size, isSlow: false }
}

function isOver(tick: Tick, mostMs: number): boolean {
  tick.isSlow ||= systemClock.now() - tick.since > mostMs && workedMs() - tick.worked > mostMs
  return tick.isSlow
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
    known = { size, groups: [], most: new Map(), members: 0, isTaking: false, awaitsLists: false }
    large.set(size, known)
    return known
  }

  function tell({ size, members }: Waiting): void {
    size.watcher?.holds(size, size.heldBytes + WAITING_BYTES * members)
  }

  async function take(waiting: Waiting, context: unknown): Promise<void> {
    const { size, groups } = waiting
    const owner = ownerOf(context)
    waiting.isTaking = true
    do {
      await turns.next(owner)
      const from = systemClock.now()
      do {
        tell(waiting)
        await heldAnswers.room(size, owner)
        giveUpIfLeft(size, context)
        const group = groups.pop()
        if (!group) break
        waiting.members -= group.members
        const began = systemClock.now()
        if (size.refusal) group.fail(size.giveUp())
        else group.begin(true)
        await drained()
        waiting.most.set(group.field, fitting(group.members, systemClock.now() - began))
      } while (groups.length > 0 && systemClock.now() - from < TURN_MS)
    } while (groups.length > 0)
    waiting.isTaking = false
  }

  /** `members`: how many objects wait together. */
  function turnOf(size: AnswerSize, context: unknown, info: GraphQLResolveInfo, members = 1): Promise<true> {
    const waiting = waitingOf(size, context, info)
    const { turn } = groupOf(waiting, info.fieldNodes[0], members)
    waiting.members += members
    if (!waiting.isTaking) void take(waiting, context)
    return turn
  }

  return {
    beforeList(context, info) {
      const size = sizeFor(context, info)
      const isBusy = tick && tick.last !== size && isOver(tick, SLOW_TICK_MS)
      if (!isBusy && !heldAnswers.areMany(size)) return undefined
      const waiting = waitingOf(size, context, info)
      const members = waiting.awaitsLists ? 1 : FREE_OBJECTS
      waiting.awaitsLists = true
      return turnOf(size, context, info, members)
    },
    pace(context, info, value) {
      const size = sizeFor(context, info)
      const items = paceLists(value, info, size, (members) => turnOf(size, context, info, members))
      const waiting = large.get(size)
      if (waiting) tell(waiting)
      return items
    },
    count(context, info, type) {
      const size = sizeFor(context, info)
      try {
        size.addObject(size.objects < FREE_OBJECTS ? 1 : fieldsOf(type, info))
      } catch (error) {
        return Promise.reject(error as Error)
      }
      const isFew = size.objects <= FREE_OBJECTS && !large.get(size)?.isTaking
      if (isFew && !areSlow(size)) return undefined
      return turnOf(size, context, info)
    },
  }
}

/** Counts the values of lists, and has those of long ones wait for `turn`. */
function paceLists(
  value: unknown,
  info: GraphQLResolveInfo,
  size: AnswerSize,
  turn: (members: number) => Promise<true>,
): unknown {
  const isLeaf = isLeafType(getNamedType(info.returnType))
  let begun = size.objects
  const paceList = (list: unknown, { ofType }: ListType, isCounted: boolean): unknown => {
    if (typeof list !== 'object' || list === null || !(Symbol.iterator in list)) return list
    const isKnown = isCounted && Array.isArray(list)
    const items = Array.isArray(list) ? (list as unknown[]) : [...(list as Iterable<unknown>)]
    const inner = getNullableType(ofType)
    if (isListType(inner))
      return items.map((item) => after(item, (row) => paceList(row, inner, isKnown && row === item)))
    try {
      if (isLeaf && !isKnown) size.addItems(items.length)
    } catch (error) {
      return Promise.reject(error as Error)
    }
    const members = isLeaf ? items.length / ITEMS_AN_OBJECT : items.length
    begun += members
    if (begun <= FREE_OBJECTS && !tick?.isSlow) return items
    tick ??= beginTick(size)
    return turn(Math.ceil(members)).then(() => items)
  }
  const type = getNullableType(info.returnType) as ListType
  // Counted before any of it waits: a response that is refused holds nothing.
  try {
    if (isLeaf) size.addItems(itemsOf(value, type))
  } catch (error) {
    return Promise.reject(error as Error)
  }
  return paceList(value, type, true)
}

/** Returns the number of values that lists within lists have, as far as they are arrays. */
function itemsOf(list: unknown, { ofType }: ListType): number {
  if (!Array.isArray(list)) return 0
  const inner = getNullableType(ofType)
  if (!isListType(inner)) return list.length
  return (list as unknown[]).reduce<number>((sum, row) => sum + ROW_ITEMS + itemsOf(row, inner), 0)
}

/** Returns how many objects should continue together after a group of `members` took so long. */
function fitting(members: number, tookMs: number): number {
  return Math.max(
    1,
    Math.min(MOST_OBJECTS, tookMs > GROUP_MS ? Math.floor((members * GROUP_MS) / tookMs) : 2 * members),
  )
}

/** Returns the group that more objects of a field continue with. */
function groupOf({ groups, most }: Waiting, field: unknown, members: number): Group {
  let group = groups.at(-1)
  const isFull = !group || group.field !== field || group.members >= (most.get(field) ?? FIRST_OBJECTS)
  if (!group || isFull) groups.push((group = createGroup(field)))
  group.members += members
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
