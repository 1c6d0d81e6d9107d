// Public API for users.
export { useLiveQuery, type LiveQueryPlugin } from './plugin.ts'
export { createLiveQueryStore } from './store/store.ts'
export type { LiveQueryStoreOptions } from './options.ts'
export type { UseLiveQueryOptions } from './use-options.ts'
export { detectFieldChanges } from './store/changes.ts'
export { cacheControlFor } from './document/live-plan.ts'
export { matchesFilter, parseQueryArguments } from './document/filter.ts'
