// For users.
export type { OnPlan, PlanEvent } from './plan/plan-event.ts'

// For sources.
export { claimJoin, prepareJoin } from './plan/prepared-joins.ts'
export { collectFields, fieldsBelow, type SelectionScope } from './plan/collect-fields.ts'
export type {
  FastPath,
  JsonText,
  Prepared,
  PreparedJoin,
  Selection,
  Site,
  Started,
  StartedJoin,
} from './plan/fast-path.ts'
export {
  mergeRecorded,
  NOTHING_RECORDED,
  type Recorded,
  recordedJoin,
  recordedRoot,
} from './plan/recorded.ts'
export { type Executor } from './plan/plain-executor.ts'
export { type Planner, plannerOf } from './plan/planner.ts'
export { FallBack, NotPlannable } from './plan/refusals.ts'
export { fastPathOf, offerField } from './plan/registry.ts'
export { argumentsOf, type Variables } from './plan/variables.ts'
