import { createJoinPlans } from './compile-join.ts'
import { createJoinRun, siteOf } from './load-joins.ts'
import type { PlannableJoin } from './planned-field.ts'
import type { PlanJoin } from './shared-join.ts'

/** Plans a batched join, for a plan of the kind of source that its parents come from. */
export function planJoin(join: PlannableJoin): PlanJoin {
  return (scope, operation, field, nodes) => {
    const place = createJoinPlans(join.transcoder, operation).place(scope, field, join, nodes)
    return {
      parentKey: join.parentKey,
      start(variables, args) {
        const run = createJoinRun(siteOf(operation, args), variables, args)
        const loads: Promise<void>[] = []
        return {
          async load(keys) {
            const gaps = keys.map((key) => ({ at: 0, place, key: key === '' ? null : key }))
            loads.push(run.load(gaps))
            // A key that is on its way is not asked for again.
            await Promise.all(loads)
            return gaps.map(run.valueOf)
          },
          replay: run.replay,
        }
      },
    }
  }
}
