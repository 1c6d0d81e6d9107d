import { askAll, type SharedKey } from '@vinyasa/source-kit'
import type { AskedKey, JoinRun } from './join-run.ts'
import { hasJoins, keyText, type ObjectPlan } from '../json/object-plan.ts'

type Selected = Pick<ObjectPlan, 'below'>

/** The keys that are to be loaded for some values. */
interface Wanted {
  readonly keys: AskedKey[]
  readonly ofOthers: SharedKey[]
}

/** Makes the calls of all joins below values, and of those below what they bring. @throws FallBack */
export async function loadJoins(found: Iterable<readonly [Selected, unknown]>, run: JoinRun): Promise<void> {
  if (run.isOver) return
  const wanted: Wanted = { keys: [], ofOthers: [] }
  for (const [plan, value] of found) collect(plan, value, run, wanted)
  const loading: Promise<void>[] = []
  if (wanted.ofOthers.length > 0) loading.push(run.shared.load(wanted.ofOthers))
  if (wanted.keys.length > 0)
    loading.push(
      askAll(
        wanted.keys,
        (asked) => run.of(asked.planned).calls.ask(asked),
        (arrived) => loadBelow(arrived, run),
      ),
    )
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
  if (found.length > 0) return loadJoins(found, run)
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
    if (one.kind === 'share') {
      wanted.ofOthers.push({ shared: one.shared, key: keyText(raw) })
      continue
    }
    if (raw === null) continue
    const key = String(raw)
    const { texts } = run.of(one)
    if (texts.has(key)) continue
    texts.set(key, undefined)
    wanted.keys.push({ planned: one, key, raw })
  }
}
