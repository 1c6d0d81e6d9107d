export { backgroundClock, type Clock, systemClock } from './clock.ts'
export { after, attempt, isAsyncIterable, isPromise, type MaybePromise } from './maybe-promise.ts'
export { createRecent, type Recent, type RecentOptions } from './recent.ts'
export { atWallTime, sleep, type WallTimer } from './waits.ts'
