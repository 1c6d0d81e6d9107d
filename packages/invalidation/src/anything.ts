import type { InvalidationEvent } from './types.ts'

/** Anything may have changed. */
export const ANYTHING: readonly InvalidationEvent[] = [{ entityType: '*', operation: '*' }]
