import { createValueCompiler } from './compile-object.ts'
import { createJoinRun } from './join-run.ts'
import { loadJoin, type Loaded } from './load-joins.ts'
import type { PlannedJoin } from './object-plan.ts'
import type { PlannableJoin } from './planned-field.ts'
import type { PlanJoin } from './shared-join.ts'

/** Plans a batched join, for a plan of the kind of source that its parents come from. */
export function planJoin(join: PlannableJoin): PlanJoin {
  return (scope, operation, field, nodes) => {
    const { write, ...below } = createValueCompiler(scope, operation).joined(field, nodes, join)
    // Of their parents nothing is known but the keys.
    const planned: PlannedJoin = { ...below, key: ({ key }) => key }
    return {
      parentKey: join.parentField,
      start(variables, args) {
        const run = createJoinRun(variables, args)
        return {
          async load(keys) {
            const parents = keys.filter((key) => key !== null).map((key) => ({ key }))
            const loaded: Loaded = new Map()
            if (parents.length > 0) await loadJoin(planned, parents, run, loaded)
            const items = loaded.get(planned)?.items
            return keys.map((key) => {
              const found = (key === null ? undefined : items?.get(key)) ?? []
              return write(join.many ? found : found[0], loaded)
            })
          },
          replay: (replayed, execute) => run.replay(new Map(), replayed, execute),
        }
      },
    }
  }
}
