import { askAll } from '@vinyasa/source-kit'
import type { AskedKey, JoinRun } from './join-run.ts'
import { hasJoins, type KeyedShare, type ObjectPlan } from '../json/object-plan.ts'

type Selected = Pick<ObjectPlan, 'below'>

/** What is to be loaded for some values. */
interface Wanted {
  readonly keys: AskedKey[]
  readonly shares: Map<KeyedShare, (string | null)[]>
}

/** Makes the calls of all joins below a value, and of those below what they bring. @throws FallBack */
export async function loadJoins(plan: Selected, value: unknown, run: JoinRun): Promise<void> {
  await load([[plan, value]], run)
}

async function load(found: Iterable<readonly [Selected, unknown]>, run: JoinRun): Promise<void> {
  if (run.isOver) return
  const wanted: Wanted = { keys: [], shares: new Map() }
  for (const [plan, value] of found) collect(plan, value, run, wanted)
  const loading = [...wanted.shares].map(([share, keys]) => loadShare(share, keys, run))
  if (wanted.keys.length > 0) loading.push(askAll(wanted.keys, run.ask, (arrived) => loadBelow(arrived, run)))
  await Promise.all(loading)
}

function loadBelow(arrived: readonly AskedKey[], run: JoinRun): Promise<void> | void {
  const found: (readonly [Selected, unknown])[] = []
  for (const { planned, key } of arrived) {
    const { join, plan } = planned
    if (!hasJoins(plan)) continue
    const items = run.of(planned).items(key)
    found.push([plan, join.many ? items : items[0]])
  }
  if (found.length > 0) return load(found, run)
}

async function loadShare(share: KeyedShare, keys: readonly (string | null)[], run: JoinRun): Promise<void> {
  const started = run.started(share)
  const json = await started.load(keys)
  const { texts } = run.of(share)
  for (const [index, key] of keys.entries())
    texts.set(key, { text: String(json[index]), objects: started.objectsOf?.(key) ?? 1 })
}

/** The keys that are asked for the first time below a value. */
function collect(plan: Selected, value: unknown, run: JoinRun, wanted: Wanted): void {
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) collect(plan, item, run, wanted)
    return
  }
  if (typeof value !== 'object' || value === null) return
  const parent = value as Readonly<Record<string, unknown>>
  for (const one of plan.below) {
    if (one.kind === 'member') {
      collect(one.plan, one.read(parent), run, wanted)
      continue
    }
    const raw = one.key(parent)
    if (one.kind === 'join' && raw === null) continue
    const key = raw === null ? null : String(raw)
    const { texts } = run.of(one)
    if (texts.has(key)) continue
    texts.set(key, undefined)
    if (one.kind === 'join') wanted.keys.push({ planned: one, key: key as string, raw })
    else share(wanted, one, key)
  }
}

function share({ shares }: Wanted, one: KeyedShare, key: string | null): void {
  const keys = shares.get(one)
  if (keys) keys.push(key)
  else shares.set(one, [key])
}
