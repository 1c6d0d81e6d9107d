import { NotPlannable, type FastPath, type Prepared } from '@vinyasa/source-kit'
import { compileCall, type PlannedCall } from './compile-call.ts'
import { createJoinPlans } from '../joins/compile-join.ts'
import { createJoinRun } from '../joins/load-joins.ts'
import { markOf } from '../json/planned-field.ts'
import { replyReader } from './reply-reader.ts'
import { startCalls, type Calls } from './start-calls.ts'

/** Takes the fields of all gRPC sources together. */
export const grpcFastPath: FastPath = {
  prepareRoots(selections, scope) {
    const mark = selections[0] && markOf(selections[0].field)
    if (mark?.kind !== 'method') throw new NotPlannable('a field has another resolver')
    const { transcoder } = mark.method
    const joins = createJoinPlans(transcoder)
    const calls = selections.map((selection) => compileCall(scope, selection, joins))
    const prepare = (before: string, after: string): Prepared => {
      const read = (call: PlannedCall) => ({ call, read: replyReader(call.method, call, before, after) })
      const all: Calls = { calls: calls.map(read), hasJoins: joins.hasAny() }
      return { start: (site) => startCalls(all, site) }
    }
    return { ...prepare('', ''), ...(calls.length === 1 && { whole: prepare }) }
  },

  prepareJoin({ field, nodes }, scope) {
    const mark = markOf(field)
    if (mark?.kind !== 'join') throw new NotPlannable(`${field.name} is no batched join`)
    const { join } = mark
    const place = createJoinPlans(join.transcoder).place(scope, field, join, nodes)
    return {
      parentKey: join.parentKey,
      start(site) {
        const run = createJoinRun(site)
        const loads: Promise<void>[] = []
        return {
          async load(keys) {
            const gaps = keys.map((key) => ({ at: 0, place, key: key === '' ? null : key }))
            loads.push(run.load(gaps))
            // A key that is on its way is not asked for again.
            await Promise.all(loads)
            return gaps.map(run.valueOf)
          },
          recorded: run.recorded,
        }
      },
    }
  },
}
