import type { FieldScope } from '../call.ts'
import { hasJoins, type Joined, type ObjectPlan, type PlannedJoin } from './object-plan.ts'
import type { ItemsByKey, PlannableJoin } from './planned-field.ts'
import type { RecordedJoin } from './recorded-replies.ts'
import type { Variables } from './coerce-variables.ts'
import { Unsure } from './unsure.ts'

/** What the joins of one run bring. */
export interface JoinRun {
  readonly variables: Variables
  readonly scope: FieldScope
  readonly joined: Map<PlannedJoin, Joined>
  /** Every call that was made, whatever came of it. */
  readonly recorded: Map<PlannableJoin, RecordedJoin>
  /** Ordinary execution has taken over, and makes what calls are left to make. */
  isOver: boolean
}

type JsonObject = Readonly<Record<string, unknown>>

/** Makes the calls of all joins below these values, those of each level at once. @throws Unsure */
export async function loadJoins(plan: ObjectPlan, values: readonly unknown[], run: JoinRun): Promise<void> {
  if (!hasJoins(plan)) return
  const parents: JsonObject[] = []
  collectObjects(values, parents)
  await Promise.all([
    ...plan.joins.map((planned) => loadJoin(planned, parents, run)),
    ...plan.children.map(({ read, plan: below }) => loadJoins(below, parents.map(read), run)),
  ])
}

async function loadJoin(planned: PlannedJoin, parents: readonly JsonObject[], run: JoinRun): Promise<void> {
  const { join, plan } = planned
  const args = planned.argumentsOf(run.variables)
  if (!args) throw new Unsure('an argument is wrong')
  const keys = new Map<string, unknown>()
  for (const parent of parents) {
    const key = planned.key(parent)
    if (key !== null) keys.set(String(key), key)
  }
  if (run.isOver) throw new Unsure('ordinary execution has taken over')
  const loading = load(join, [...keys.values()], args, run.scope)
  run.recorded.set(join, { asked: new Set(keys.keys()), items: loading })
  const items = await loading
  run.joined.set(planned, { items, texts: new Map() })
  if (!hasJoins(plan)) return
  const found = [...keys.keys()].flatMap(
    (key) => (join.many ? items.get(key) : items.get(key)?.slice(0, 1)) ?? [],
  )
  await loadJoins(plan, found, run)
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
