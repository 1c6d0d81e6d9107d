// For users
export { useLiveQuery, type LiveQueryPlugin } from './plugin.ts'
export {
  createLiveQueryStore,
  type LiveQueryRegistration,
  type LiveQueryStats,
  type LiveQueryStore,
  type LiveQuerySubscription,
} from './store.ts'
export type {
  BatchOptions,
  LiveQueryFieldOptions,
  LiveQueryStoreOptions,
  LiveQueryStrategy,
} from './options.ts'
export type { UseLiveQueryOptions } from './use-options.ts'
export type { LiveQueryEvent, LiveQueryUpdate } from './update.ts'
export { GraphQLLiveDirective, hasLiveDirective, stripLiveDirective } from './directive.ts'
export { detectFieldChanges, type FieldChange } from './changes.ts'
export { cacheControlFor, type CacheControl, type Volatility } from './cache-control.ts'
export { matchesFilter, parseQueryArguments, type FilterArguments } from './filter.ts'
export { LiveQueryStoreError } from './errors.ts'

// For integrators
export type { LiveQueryEngine } from './engine.ts'
export type { AskedOperation, OperationParams } from './passes.ts'
export type { Answer, AnyResult, LiveRegistration } from './answer.ts'
export type { EntityFinder } from './identifiers.ts'
export type { LiveQueryExecute, LiveQueryRun } from './group.ts'
export { planLiveQuery, type LivePlan, type PlanInput } from './live-plan.ts'
export type { LiveQueryChannel } from './subscriber.ts'
export { formatPayload, toUpdate, type Delivery } from './update.ts'
export type { LiveResult, Version } from './version.ts'
export { matchesTrigger } from './triggers.ts'
export type { Clock } from './clock.ts'
