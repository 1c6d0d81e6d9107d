// For users
export { useLiveQuery, type LiveQueryPlugin } from './plugin.ts'
export { createLiveQueryStore, type LiveQueryStats, type LiveQueryStore } from './store/store.ts'
export type { LiveQueryRegistration, LiveQuerySubscription } from './store/registration.ts'
export type {
  BatchOptions,
  LiveQueryFieldOptions,
  LiveQueryStoreOptions,
  LiveQueryStrategy,
} from './options.ts'
export type { UseLiveQueryOptions } from './use-options.ts'
export type { LiveQueryEvent, LiveQueryUpdate } from './store/update.ts'
export { GraphQLLiveDirective, hasLiveDirective, stripLiveDirective } from './document/directive.ts'
export { detectFieldChanges, type FieldChange } from './store/changes.ts'
export type { Volatility } from '@vinyasa/base'
export { cacheControlFor, type CacheControl } from './document/cache-control.ts'
export { matchesFilter, parseQueryArguments, type FilterArguments } from './document/filter.ts'
export { LiveQueryStoreError } from './errors.ts'

// For integrators
export type { LiveQueryEngine } from './execution/engine.ts'
export type { AskedOperation, OperationParams } from './execution/passes.ts'
export type { Answer, AnyResult, LiveRegistration } from './execution/answer.ts'
export type { EntityFinder } from './triggers/identifiers.ts'
export type { LiveQueryExecute, LiveQueryRun } from './store/run.ts'
export { planLiveQuery, type LivePlan, type PlanInput } from './document/live-plan.ts'
export type { LiveQueryChannel } from './store/subscriber.ts'
export { formatPayload, toUpdate, type Delivery } from './store/update.ts'
export type { LiveResult, Version } from './store/version.ts'
export { matchesTrigger } from './triggers/triggers.ts'
export type { Clock } from '@vinyasa/base'
