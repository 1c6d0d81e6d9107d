import { FallBack } from '@vinyasa/source-kit'
import type { FieldScope } from '../call/call.ts'
import type { JoinRun } from './join-run.ts'
import {
  hasJoins,
  type Joined,
  type KeyedShare,
  type ObjectPlan,
  type PlannedJoin,
} from '../json/object-plan.ts'
import type { ItemsByKey, PlannableJoin } from '../json/planned-field.ts'

/** What is loaded for the values that are written together. */
export type Loaded = Map<PlannedJoin | KeyedShare, Joined>

const NO_ITEMS: ItemsByKey = new Map()
type JsonObject = Readonly<Record<string, unknown>>

/** Makes the calls of all joins below these values, those of each level at once. @throws FallBack */
export async function loadJoins(
  plan: ObjectPlan,
  values: readonly unknown[],
  run: JoinRun,
  loaded: Loaded,
): Promise<void> {
  if (!hasJoins(plan)) return
  const parents: JsonObject[] = []
  collectObjects(values, parents)
  await Promise.all([
    ...plan.joins.map((planned) => loadJoin(planned, parents, run, loaded)),
    ...plan.shared.map((share) => loadShare(share, parents, run, loaded)),
    ...plan.children.map(({ read, plan: below }) => loadJoins(below, parents.map(read), run, loaded)),
  ])
}

async function loadShare(
  share: KeyedShare,
  parents: readonly JsonObject[],
  run: JoinRun,
  loaded: Loaded,
): Promise<void> {
  const keys = [...new Set(parents.map(share.key))]
  if (run.isOver) throw new FallBack('ordinary execution has taken over')
  const json = keys.length === 0 ? [] : await run.started(share).load(keys)
  const texts = new Map(keys.map((key, index) => [key, String(json[index])]))
  loaded.set(share, { items: NO_ITEMS, texts })
}

/** Makes the calls of one join, and of those below it. @throws FallBack */
export async function loadJoin(
  planned: PlannedJoin,
  parents: readonly JsonObject[],
  run: JoinRun,
  loaded: Loaded,
): Promise<void> {
  const { join, plan } = planned
  const args = planned.argumentsOf(run.variables)
  const keys = new Map<string, unknown>()
  for (const parent of parents) {
    const key = planned.key(parent)
    if (key !== null) keys.set(String(key), key)
  }
  if (run.isOver) throw new FallBack('ordinary execution has taken over')
  const loading = load(join, [...keys.values()], args, run.scope)
  run.record(join, { asked: new Set(keys.keys()), items: loading })
  const items = await loading
  loaded.set(planned, { items, texts: new Map() })
  if (!hasJoins(plan)) return
  const found = [...keys.keys()].flatMap(
    (key) => (join.many ? items.get(key) : items.get(key)?.slice(0, 1)) ?? [],
  )
  await loadJoins(plan, found, run, loaded)
}

async function load(
  join: PlannableJoin,
  keys: readonly unknown[],
  args: Readonly<Record<string, unknown>>,
  scope: FieldScope,
): Promise<ItemsByKey> {
  if (keys.length === 0) return new Map()
  if (keys.length <= join.maxSize) return join.load(keys, args, scope)
  const calls: Promise<ItemsByKey>[] = []
  for (let from = 0; from < keys.length; from += join.maxSize)
    calls.push(join.load(keys.slice(from, from + join.maxSize), args, scope))
  return new Map((await Promise.all(calls)).flatMap((items) => [...items]))
}

function collectObjects(values: readonly unknown[], into: JsonObject[]): void {
  for (const value of values) {
    if (Array.isArray(value)) collectObjects(value as readonly unknown[], into)
    else if (typeof value === 'object' && value !== null) into.push(value as JsonObject)
  }
}
