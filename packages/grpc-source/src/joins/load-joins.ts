import {
  askAll,
  FallBack,
  type JoinCalls,
  mergeRecorded,
  PlannedJoins,
  type Recorded,
  SharedJoins,
  type Site,
} from '@vinyasa/source-kit'
import type { CallSite } from '../methods/call-site.ts'
import { fillGaps, sizeOf, type Value } from './fill-gaps.ts'
import {
  type Gap,
  type JoinedItems,
  type JoinGap,
  type JoinPlace,
  type JoinReply,
  type PlannableJoin,
  type SharedGap,
  type Span,
} from '../json/message-plan.ts'

/** The joins of one execution. */
export interface JoinRun {
  /** Makes the calls for what belongs in the gaps, and in the gaps of that. @throws FallBack */
  load(gaps: readonly Gap[]): Promise<void>
  /** How large a part of JSON is with values in its gaps, all of which are loaded. @throws FallBack */
  sizeOf(span: Span): Pick<Value, 'bytes' | 'objects'>
  /** The JSON with those values. @throws FallBack */
  fill(json: Buffer, span: Span): Buffer
  /** How large the value in one gap is, which is loaded. @throws FallBack */
  sizeOfGap(gap: Gap): Pick<Value, 'bytes' | 'objects'>
  /** The value in one gap. @throws FallBack */
  valueOf(gap: Gap): Buffer
  /** Ends it: nothing more is called. What was called is told once. */
  recorded(): Recorded
}

type KeyedGap = JoinGap & { readonly key: string }
type Calls = JoinCalls<KeyedGap, JoinReply>

/** What the calls of one execution are made with. */
export function callSiteOf({ operation, args, isOneCall }: Site): CallSite {
  return { context: args.contextValue, info: { operation, rootValue: args.rootValue as unknown, isOneCall } }
}

const OPEN = Buffer.from('[')
const COMMA = Buffer.from(',')
const CLOSE = Buffer.from(']')

export function createJoinRun(site: Site): JoinRun {
  const callSite = callSiteOf(site)
  const calls = new Map<PlannableJoin, Calls>()
  const joins = new PlannedJoins<PlannableJoin, KeyedGap, JoinReply>((join, { bytes }) => join.itemsIn(bytes))
  const shared = new SharedJoins<Value>(site, (text, objects) => {
    const json = typeof text === 'string' ? Buffer.from(text) : text
    return { json, bytes: json.length, objects }
  })
  /** By key; undefined where it is not there yet. */
  const values = new Map<JoinPlace, Map<string, Value | undefined>>()

  function callsOf(join: PlannableJoin): Calls {
    let known = calls.get(join)
    if (!known) {
      const { runtime, keysField } = join
      known = joins.callsOf(join, '', async (asked) => {
        const request = await runtime.encode({ [keysField]: asked.map(({ key }) => key) })
        return runtime.send(request, callSite, (asked[0] as KeyedGap).place.read)
      })
      calls.set(join, known)
    }
    return known
  }

  function valuesOf(place: JoinPlace): Map<string, Value | undefined> {
    let known = values.get(place)
    if (!known) values.set(place, (known = new Map()))
    return known
  }

  async function load(gaps: readonly Gap[]): Promise<void> {
    // Replies may still come when ordinary execution has taken over: it makes what calls are left to make.
    if (joins.isOver) return
    const own: KeyedGap[] = []
    const ofOthers: SharedGap[] = []
    for (const gap of gaps) {
      if (isShared(gap)) ofOthers.push(gap)
      else if (hasKey(gap)) {
        const seen = valuesOf(gap.place)
        if (seen.has(gap.key)) continue
        seen.set(gap.key, undefined)
        own.push(gap)
      }
    }
    const loading: Promise<void>[] = []
    if (own.length > 0) loading.push(askAll(own, (gap) => callsOf(gap.place.join).ask(gap), loadBelow))
    if (ofOthers.length > 0) loading.push(shared.load(ofOthers))
    await Promise.all(loading)
  }

  /** Loads what belongs in the gaps of values, now that they are there. */
  function loadBelow(arrived: readonly KeyedGap[]): Promise<void> | void {
    const below: Gap[] = []
    for (const gap of arrived)
      for (const span of itemsFor(gap)?.byKey.get(gap.key) ?? []) below.push(...span.gaps)
    if (below.length > 0) return load(below)
  }

  /** Undefined where nothing was sent. */
  function itemsFor({ place, key }: KeyedGap): JoinedItems | undefined {
    const reply = callsOf(place.join).replyFor(key)
    if (!reply) return undefined
    const { bytes, items, reason } = reply
    if (!items) throw new FallBack(reason)
    let found = items.get(place)
    if (!found) items.set(place, (found = place.itemsIn(bytes)))
    return found
  }

  /** Many parents have the same item: it is measured once, and written once. */
  function measured(gap: Gap): Value {
    if (isShared(gap)) return shared.valueOf(gap)
    if (!hasKey(gap)) return toValue(missing(gap))
    const { place, key } = gap
    const known = valuesOf(place)
    let value = known.get(key)
    if (!value) known.set(key, (value = measure(gap)))
    return value
  }

  function measure(gap: KeyedGap): Value {
    const spans = itemsFor(gap)?.byKey.get(gap.key)
    if (!spans) return toValue(missing(gap))
    const size = { bytes: gap.place.join.many ? spans.length + 1 : 0, objects: 0, json: undefined }
    for (const span of spans) {
      const { bytes, objects } = sizeOf(span, measured)
      size.bytes += bytes
      size.objects += objects
    }
    return size
  }

  function valueOf(gap: Gap): Buffer {
    const value = measured(gap)
    return (value.json ??= write(gap as KeyedGap))
  }

  /** Of something that is there. */
  function write(gap: KeyedGap): Buffer {
    const { json, byKey } = itemsFor(gap) as JoinedItems
    const texts = (byKey.get(gap.key) ?? []).map((span) => fillGaps(json, span, valueOf))
    if (!gap.place.join.many) return texts[0] as Buffer
    return Buffer.concat([
      OPEN,
      ...texts.flatMap((text, index) => (index === 0 ? [text] : [COMMA, text])),
      CLOSE,
    ])
  }

  return {
    load,
    sizeOf: (span) => sizeOf(span, measured),
    sizeOfGap: measured,
    valueOf,
    fill: (json, span) => fillGaps(json, span, valueOf),
    recorded: () => mergeRecorded([joins.recorded(), shared.recorded()]),
  }
}

function isShared(gap: Gap): gap is SharedGap {
  return 'shared' in gap
}

function hasKey(gap: JoinGap): gap is KeyedGap {
  return gap.key !== null
}

function toValue(json: Buffer): Value {
  return { bytes: json.length, objects: 0, json }
}

function missing({ place }: JoinGap): Buffer {
  if (!place.missing) throw new FallBack('a joined field that may not be null has no item')
  return place.missing
}
