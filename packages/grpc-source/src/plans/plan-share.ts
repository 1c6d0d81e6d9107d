import type { OperationDefinitionNode } from 'graphql'
import type { SelectionScope } from './collect-fields.ts'
import { compileCall, type PlannedCall } from './compile-call.ts'
import { createJoinPlans } from './compile-join.ts'
import { replyReader } from './reply-reader.ts'
import type { PlanShare, SelectedField, Share } from './share.ts'
import { startCalls, type Calls } from './start-calls.ts'
import { Transcoder } from './transcoder.ts'

/** Plans the fields of all gRPC sources together, for a plan of another kind of source. */
export const planShare: PlanShare = (scope, operation, fields) =>
  createShare(scope, operation, fields, new Transcoder())

/** @throws Unplannable */
export function createShare(
  scope: SelectionScope,
  operation: OperationDefinitionNode,
  fields: readonly SelectedField[],
  transcoder: Transcoder,
): Share {
  const joins = createJoinPlans(transcoder, operation)
  const calls = fields.map((field) => compileCall(scope, operation, field, joins))
  const share = (before: string, after: string): Share => {
    const read = (call: PlannedCall) => ({ call, read: replyReader(transcoder, call, before, after) })
    const all: Calls = { operation, calls: calls.map(read), hasJoins: joins.hasAny() }
    return { start: (variables, args) => startCalls(all, variables, args) }
  }
  return { ...share('', ''), ...(calls.length === 1 && { whole: share }) }
}
