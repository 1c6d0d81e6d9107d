import { compileCall, type PlannedCall } from './compile-call.ts'
import { createJoinPlans } from './compile-join.ts'
import { markOf } from './planned-field.ts'
import { replyReader } from './reply-reader.ts'
import type { PlanShare, Share } from './share.ts'
import { startCalls, type Calls } from './start-calls.ts'
import { Unplannable } from './unplannable.ts'

/** Plans the fields of all gRPC sources together. */
export const planShare: PlanShare = (scope, operation, fields) => {
  const mark = fields[0] && markOf(fields[0].field)
  if (mark?.kind !== 'method') throw new Unplannable('a field has another resolver')
  const { transcoder } = mark.method
  const joins = createJoinPlans(transcoder, operation)
  const calls = fields.map((field) => compileCall(scope, operation, field, joins))
  const share = (before: string, after: string): Share => {
    const read = (call: PlannedCall) => ({ call, read: replyReader(transcoder, call, before, after) })
    const all: Calls = { operation, calls: calls.map(read), hasJoins: joins.hasAny() }
    return { start: (variables, args) => startCalls(all, variables, args) }
  }
  return { ...share('', ''), ...(calls.length === 1 && { whole: share }) }
}
