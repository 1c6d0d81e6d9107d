// For users
export { useLiveQuery, type LiveQueryPlugin } from './plugin.ts'
export { createLiveQueryStore, type LiveQueryStats, type LiveQueryStore } from './store/store.ts'
export type { LiveQueryRegistration } from './store/registration.ts'
export type { LiveQueryFieldOptions, LiveQueryStoreOptions } from './options.ts'
export type { UseLiveQueryOptions } from './use-options.ts'
export type { LiveQueryUpdate } from './store/update.ts'
export { GraphQLLiveDirective } from './document/directive.ts'
export { detectFieldChanges } from './store/changes.ts'
export { cacheControlFor } from './document/cache-control.ts'
export { matchesFilter, parseQueryArguments } from './document/filter.ts'
export { LiveQueryStoreError } from './errors.ts'

// For integrators
