import {
  askAll,
  FallBack,
  type JoinCalls,
  type JsonSize,
  mergeRecorded,
  PlannedJoins,
  type Recorded,
  SharedJoins,
  type Site,
} from '@vinyasa/source-kit'
import type { CallSite } from '../methods/call-site.ts'
import { fillGaps, type GapValues, sizeOf } from './fill-gaps.ts'
import {
  type Gap,
  type JoinedItems,
  type JoinGap,
  type JoinPlace,
  type JoinReply,
  type PlannableJoin,
  type SharedGap,
} from '../json/transcoder.ts'

type KeyedGap = JoinGap & { readonly key: string }
type Calls = JoinCalls<KeyedGap, JoinReply>

/** Gives the context and the operation that the calls of one execution are made with. */
export function callSiteOf({ operation, args, isOneCall }: Site): CallSite {
  return { context: args.contextValue, info: { operation, rootValue: args.rootValue as unknown, isOneCall } }
}

const OPEN = Buffer.from('[')
const COMMA = Buffer.from(',')
const CLOSE = Buffer.from(']')

/** A joined value, written once it is wanted. */
interface Value extends JsonSize {
  json: Buffer | undefined
}

/** The joins of one execution. */
export class JoinRun implements GapValues {
  readonly #callSite: CallSite
  readonly #calls = new Map<PlannableJoin, Calls>()
  readonly #joins: PlannedJoins<PlannableJoin, KeyedGap, JoinReply>
  readonly #shared: SharedJoins<Buffer>
  /** By key; undefined where it is not there yet. */
  readonly #values = new Map<JoinPlace, Map<string, Value | undefined>>()

  constructor(site: Site) {
    this.#callSite = callSiteOf(site)
    this.#joins = new PlannedJoins((join, { bytes }) => join.itemsIn(bytes))
    this.#shared = new SharedJoins(site, (json) => (typeof json === 'string' ? Buffer.from(json) : json))
  }

  /** Makes the calls for what belongs in the gaps, and in the gaps of that. @throws FallBack */
  async load(gaps: readonly Gap[]): Promise<void> {
    // Replies may still come when ordinary execution has taken over: it makes what calls are left to make.
    if (this.#joins.isOver) return
    const own: KeyedGap[] = []
    const ofOthers: SharedGap[] = []
    for (const gap of gaps) {
      if (isShared(gap)) ofOthers.push(gap)
      else if (hasKey(gap)) {
        const seen = this.#valuesOf(gap.place)
        if (seen.has(gap.key)) continue
        seen.set(gap.key, undefined)
        own.push(gap)
      }
    }
    const loading: Promise<void>[] = []
    if (own.length > 0) {
      const ask = (gap: KeyedGap) => this.#callsOf(gap.place.join).ask(gap)
      loading.push(askAll(own, ask, (arrived) => this.#loadBelow(arrived)))
    }
    if (ofOthers.length > 0) loading.push(this.#shared.load(ofOthers))
    await Promise.all(loading)
  }

  /** Many parents have the same item: it is measured once, and written once. */
  sizeOfGap(gap: Gap): JsonSize {
    return isShared(gap) ? this.#shared.sizeOf(gap) : this.#valueOf(gap)
  }

  valueOf(gap: Gap): Buffer {
    if (isShared(gap)) return this.#shared.jsonOf(gap)
    const value = this.#valueOf(gap)
    return (value.json ??= this.#write(gap as KeyedGap))
  }

  /** Ends it: nothing more is called. The calls that were made are given once. */
  recorded(): Recorded {
    return mergeRecorded([this.#joins.recorded(), this.#shared.recorded()])
  }

  #valueOf(gap: JoinGap): Value {
    if (!hasKey(gap)) return missing(gap)
    const { place, key } = gap
    const known = this.#valuesOf(place)
    let value = known.get(key)
    if (!value) known.set(key, (value = this.#measure(gap)))
    return value
  }

  #callsOf(join: PlannableJoin): Calls {
    let known = this.#calls.get(join)
    if (!known) {
      const { runtime, toRequest } = join
      known = this.#joins.callsOf(join, '', async (asked) => {
        const request = await runtime.encode(toRequest(asked.map(({ key }) => key)))
        return runtime.send(request, this.#callSite, (asked[0] as KeyedGap).place.read)
      })
      this.#calls.set(join, known)
    }
    return known
  }

  #valuesOf(place: JoinPlace): Map<string, Value | undefined> {
    let known = this.#values.get(place)
    if (!known) this.#values.set(place, (known = new Map()))
    return known
  }

  /** Loads what belongs in the gaps of values, now that they are there. */
  #loadBelow(arrived: readonly KeyedGap[]): Promise<void> | void {
    const below: Gap[] = []
    for (const gap of arrived)
      for (const span of this.#itemsFor(gap)?.byKey.get(gap.key) ?? []) below.push(...span.gaps)
    if (below.length > 0) return this.load(below)
  }

  /** Undefined where nothing was sent. */
  #itemsFor({ place, key }: KeyedGap): JoinedItems | undefined {
    const reply = this.#callsOf(place.join).replyFor(key)
    if (!reply) return undefined
    const { bytes, items, reason } = reply
    if (!items) throw new FallBack(reason)
    let found = items.get(place)
    if (!found) items.set(place, (found = place.itemsIn(bytes)))
    return found
  }

  #measure(gap: KeyedGap): Value {
    const spans = this.#itemsFor(gap)?.byKey.get(gap.key)
    if (!spans) return missing(gap)
    const size = { length: gap.place.join.many ? spans.length + 1 : 0, objects: 0, json: undefined }
    for (const span of spans) {
      const { length, objects } = sizeOf(span, this)
      size.length += length
      size.objects += objects
    }
    return size
  }

  /** The value is there, and not written yet. */
  #write(gap: KeyedGap): Buffer {
    const { json, byKey } = this.#itemsFor(gap) as JoinedItems
    const texts = (byKey.get(gap.key) ?? []).map((span) => fillGaps(json, span, this))
    if (!gap.place.join.many) return texts[0] as Buffer
    const list = texts.flatMap((text, index) => (index === 0 ? [text] : [COMMA, text]))
    return Buffer.concat([OPEN, ...list, CLOSE])
  }
}

export function createJoinRun(site: Site): JoinRun {
  return new JoinRun(site)
}

function isShared(gap: Gap): gap is SharedGap {
  return 'shared' in gap
}

function hasKey(gap: JoinGap): gap is KeyedGap {
  return gap.key !== null
}

function missing({ place: { missing: json, join } }: JoinGap): Value {
  if (!json)
    throw new FallBack(
      `the list ${join.items.desc.parent.typeName}.${join.items.desc.name} in the response has no item for a joined field that is non-nullable`,
    )
  return { length: json.length, objects: 0, json }
}
