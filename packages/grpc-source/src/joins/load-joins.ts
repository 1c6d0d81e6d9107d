import { keyed } from '@vinyasa/core'
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
import {
  type Gap,
  type JoinedItems,
  type JoinGap,
  type JoinPlace,
  type JoinReply,
  type PlannableJoin,
  type SharedGap,
  type Span,
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

/** Below it a loop is faster than a call. */
const SHORT = 96

/** A joined value, written once it is wanted. */
interface Value extends JsonSize {
  json: Buffer | undefined
}

/** The joins of one execution. */
export class JoinRun {
  readonly #callSite: CallSite
  readonly #joins: PlannedJoins<PlannableJoin, KeyedGap, JoinReply>
  readonly #shared: SharedJoins<Buffer>
  readonly #callsOf = keyed((join: PlannableJoin): Calls => {
    const { runtime, toRequest } = join
    return this.#joins.callsOf(join, '', async (asked) => {
      const request = await runtime.encode(toRequest(asked.map(({ key }) => key)))
      return runtime.send(request, this.#callSite, (asked[0] as KeyedGap).place.read)
    })
  })
  /** The values of a place by key; undefined where a value is not there yet. */
  readonly #valuesOf = keyed((_place: JoinPlace) => new Map<string, Value | undefined>())

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

  /** Many parents have the same item: it is measured once, and written once. @throws FallBack */
  sizeOfGap(gap: Gap): JsonSize {
    return isShared(gap) ? this.#shared.sizeOf(gap) : this.#valueOf(gap)
  }

  /** @throws FallBack */
  valueOf(gap: Gap): Buffer {
    if (isShared(gap)) return this.#shared.jsonOf(gap)
    const value = this.#valueOf(gap)
    return (value.json ??= this.#write(gap as KeyedGap))
  }

  /** Measures a part of JSON with the values in its gaps, which need not be written for that. @throws FallBack */
  sizeOf({ start, end, gaps, objects }: Span): JsonSize {
    const size = { length: end - start, objects }
    for (const gap of gaps) {
      const value = this.sizeOfGap(gap)
      size.length += value.length
      size.objects += value.objects
    }
    return size
  }

  /** Writes a part of JSON with values in its gaps. @throws FallBack */
  fill(json: Buffer, { start, end, gaps }: Span): Buffer {
    if (gaps.length === 0) return json.subarray(start, end)
    let size = end - start
    const values = gaps.map((gap) => {
      const value = this.valueOf(gap)
      size += value.length
      return value
    })
    const filled = Buffer.allocUnsafe(size)
    let from = start
    let to = 0
    for (const [index, value] of values.entries()) {
      const { at } = gaps[index] as Gap
      to = copy(json, from, at, filled, to)
      to = copy(value, 0, value.length, filled, to)
      from = at
    }
    copy(json, from, end, filled, to)
    return filled
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
      const { length, objects } = this.sizeOf(span)
      size.length += length
      size.objects += objects
    }
    return size
  }

  /** The value is there, and not written yet. */
  #write(gap: KeyedGap): Buffer {
    const { json, byKey } = this.#itemsFor(gap) as JoinedItems
    const texts = (byKey.get(gap.key) ?? []).map((span) => this.fill(json, span))
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

function copy(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  const length = end - start
  if (length > SHORT) target.set(source.subarray(start, end), at)
  else for (let index = 0; index < length; index++) target[at + index] = source[start + index] as number
  return at + length
}
