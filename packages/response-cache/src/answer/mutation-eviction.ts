import type { ExecutionArgs, ExecutionResult } from 'graphql'
import type { DocumentProfile } from '../document/document-profile.ts'
import type { InvalidationCause } from '../options.ts'
import type { ExecutionInput } from './operation-state.ts'
import type { Pipeline } from './pipeline.ts'
import type { CacheEngine } from '../response-cache.ts'

type Execute = (args: ExecutionArgs) => unknown

/**
 * Evicts after a mutation and before its answer goes out, whether it succeeded, failed in part or
 * threw: a backend may have committed in every case.
 */
export function createMutationEviction(cache: CacheEngine, pipeline: Pipeline) {
  const { invalidateOnMutation = true } = cache.options
  return (
    input: ExecutionInput,
    executeFn: Execute,
    setExecuteFn: (execute: Execute) => void,
  ): { onExecuteDone(payload: { result: unknown }): Promise<void> } | undefined => {
    const profile = pipeline.profileOf(input)
    if (!profile || !invalidateOnMutation) return undefined
    let isEvicted = false

    async function evict(result: unknown) {
      if (isEvicted || !profile) return
      isEvicted = true
      await evictFor(cache, profile, result)
    }

    setExecuteFn(async (args) => {
      let result: unknown
      const changed = await cache.changing()
      try {
        result = await executeFn(args)
        return result
      } finally {
        await evict(result)
        changed?.()
      }
    })
    // Another plugin may have put its own execute in place of this one.
    return { onExecuteDone: ({ result }) => evict(result) }
  }
}

async function evictFor(cache: CacheEngine, profile: DocumentProfile, result: unknown): Promise<void> {
  const { dependence } = profile
  const cause: InvalidationCause = dependence.everything
    ? { source: 'mutation', events: [], types: ['*'], entities: [{ type: '*' }] }
    : {
        source: 'mutation',
        events: [],
        types: [...dependence.types].sort(),
        entities: cache.byEntity ? profile.changedIn((result as ExecutionResult | undefined)?.data) : [],
      }
  await cache.invalidate(cause)
}
