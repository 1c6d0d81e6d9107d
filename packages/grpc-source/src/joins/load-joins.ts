import { FallBack, mergeRecorded, type Recorded, type Site } from '@vinyasa/source-kit'
import type { CallSite } from '../methods/call-site.ts'
import { afterPromises } from './after-promises.ts'
import { fillGaps } from './fill-gaps.ts'
import { createSharedJoinRun } from './load-shared-joins.ts'
import {
  type Gap,
  type JoinGap,
  type JoinPlace,
  type JoinReply,
  type JoinedItems,
  type PlannedJoin,
  type SharedGap,
} from '../json/message-plan.ts'

/** The joins of one execution. */
export interface JoinRun {
  /** Makes the calls for what belongs in the gaps, and in the gaps of that. @throws FallBack */
  load(gaps: readonly Gap[]): Promise<void>
  /** The JSON with values in its gaps, all of which are loaded. @throws FallBack */
  fill(json: Buffer, gaps: readonly Gap[]): Buffer
  /** The value in one gap, which is loaded. @throws FallBack */
  valueOf(gap: Gap): Buffer
  /** Ends it: nothing more is called. */
  recorded(): Recorded
}

type KeyedGap = JoinGap & { readonly key: string }

/** What the calls of one execution are made with. */
export function callSiteOf({ operation, args }: Site): CallSite {
  return { context: args.contextValue, info: { operation, rootValue: args.rootValue as unknown } }
}

/** One call of a join, which takes keys until it is sent. */
interface Batch {
  readonly keys: string[]
  isSent: boolean
  /** Undefined where nothing was to be sent. */
  reply: Promise<JoinReply | undefined>
  items: JoinReply['items']
}

interface Load {
  readonly batches: Batch[]
  readonly byKey: Map<string, Batch>
}

const OPEN = Buffer.from('[')
const COMMA = Buffer.from(',')
const CLOSE = Buffer.from(']')

export function createJoinRun(site: Site): JoinRun {
  const callSite = callSiteOf(site)
  const shared = createSharedJoinRun(site)
  const loads = new Map<PlannedJoin, Load>()
  /** By key; undefined where it is not written yet. */
  const values = new Map<JoinPlace, Map<string, Buffer | undefined>>()
  let isOver = false

  function loadOf(join: PlannedJoin): Load {
    let known = loads.get(join)
    if (!known) loads.set(join, (known = { batches: [], byKey: new Map() }))
    return known
  }

  function valuesOf(place: JoinPlace): Map<string, Buffer | undefined> {
    let known = values.get(place)
    if (!known) values.set(place, (known = new Map()))
    return known
  }

  /** The call that takes the next key. */
  function openBatch(join: PlannedJoin, { batches }: Load): Batch {
    const last = batches.at(-1)
    if (last && !last.isSent && last.keys.length < join.join.maxBatchSize) return last
    const batch: Batch = {
      keys: [],
      isSent: false,
      items: undefined,
      reply: afterPromises().then(() => {
        batch.isSent = true
        return isOver || batch.keys.length === 0 ? undefined : send(join, batch)
      }),
    }
    // Who waits for several calls hears of the first failure.
    batch.reply.catch(() => {})
    batches.push(batch)
    return batch
  }

  async function send({ join, read }: PlannedJoin, batch: Batch): Promise<JoinReply> {
    const { runtime, keysField } = join
    const reply = await runtime.send(await runtime.encode({ [keysField]: batch.keys }), callSite, read)
    batch.items = reply.items
    return reply
  }

  async function load(gaps: readonly Gap[]): Promise<void> {
    const waiting = new Map<Batch, KeyedGap[]>()
    const ofOthers: SharedGap[] = []
    for (const gap of gaps) {
      if (isShared(gap)) {
        ofOthers.push(gap)
        continue
      }
      if (!hasKey(gap)) continue
      const { place, key } = gap
      const seen = valuesOf(place)
      if (seen.has(key)) continue
      seen.set(key, undefined)
      const own = loadOf(place.join)
      // With DataLoader, who asks again for a key waits for the call that others ask for meanwhile.
      const batch = openBatch(place.join, own)
      if (!own.byKey.has(key)) {
        own.byKey.set(key, batch)
        batch.keys.push(key)
      }
      const others = waiting.get(batch)
      if (others) others.push(gap)
      else waiting.set(batch, [gap])
    }
    const loading = [...waiting].map(([batch, wanted]) => follow(batch, wanted))
    if (ofOthers.length > 0) loading.push(shared.load(ofOthers))
    await Promise.all(loading)
  }

  /** Loads what belongs in the gaps of values, once they are there. */
  async function follow(batch: Batch, wanted: readonly KeyedGap[]): Promise<void> {
    for (const { reply } of new Set([batch, ...wanted.map(ownerOf)])) {
      const brought = await reply
      if (brought && !brought.items) throw new FallBack(brought.reason)
    }
    // DataLoader hands out what it asked for before what it had.
    const isNew = (gap: KeyedGap): boolean => ownerOf(gap) === batch
    const below: Gap[] = []
    for (const gap of [...wanted.filter(isNew), ...wanted.filter((other) => !isNew(other))])
      for (const span of itemsOf(gap)?.byKey.get(gap.key) ?? []) below.push(...span.gaps)
    if (below.length > 0) await load(below)
  }

  function ownerOf({ place, key }: KeyedGap): Batch {
    return loadOf(place.join).byKey.get(key) as Batch
  }

  function itemsOf(gap: KeyedGap): JoinedItems | undefined {
    return ownerOf(gap).items?.get(gap.place)
  }

  /** Many parents have the same item: it is written once. */
  function valueOf(gap: Gap): Buffer {
    if (isShared(gap)) return shared.valueOf(gap)
    if (!hasKey(gap)) return missing(gap)
    const { place, key } = gap
    const written = valuesOf(place)
    let value = written.get(key)
    if (!value) written.set(key, (value = write(gap)))
    return value
  }

  function write(gap: KeyedGap): Buffer {
    const { place, key } = gap
    const items = itemsOf(gap)
    const spans = items?.byKey.get(key)
    if (!items || !spans) return missing(gap)
    const texts = spans.map((span) => fillGaps(items.json, span, valueOf))
    if (!place.join.join.many) return texts[0] as Buffer
    return Buffer.concat([
      OPEN,
      ...texts.flatMap((text, index) => (index === 0 ? [text] : [COMMA, text])),
      CLOSE,
    ])
  }

  return {
    load,
    valueOf,
    fill: (json, gaps) => fillGaps(json, { start: 0, end: json.length, gaps }, valueOf),
    recorded() {
      isOver = true
      const joins = new Map<object, (key: string) => Promise<unknown> | undefined>()
      for (const [{ join }, { byKey }] of loads) {
        const values = new Map<Batch, Promise<(key: string) => unknown>>()
        for (const batch of byKey.values()) {
          if (!batch.isSent || values.has(batch)) continue
          const found = batch.reply.then((brought) => join.valuesIn((brought as JoinReply).bytes))
          // Execution may end before it looks at every field.
          found.catch(() => {})
          values.set(batch, found)
        }
        joins.set(join.valuesIn, (key) => {
          const batch = byKey.get(key)
          return batch && values.get(batch)?.then((valueFor) => valueFor(key))
        })
      }
      return mergeRecorded([{ roots: new Map(), joins }, shared.recorded()])
    },
  }
}

function isShared(gap: Gap): gap is SharedGap {
  return 'shared' in gap.place
}

function hasKey(gap: JoinGap): gap is KeyedGap {
  return gap.key !== null
}

function missing({ place }: JoinGap): Buffer {
  if (!place.missing) throw new FallBack('a joined field that may not be null has no item')
  return place.missing
}
