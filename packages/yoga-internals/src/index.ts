export { isYogasOwn, type OwnHook } from './own-hook.ts'
export { readOwnHooks, type OwnHooks } from './own-hooks.ts'
export { type Executor, yogasExecutor } from './executor.ts'
