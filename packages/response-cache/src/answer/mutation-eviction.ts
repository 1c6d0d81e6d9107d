import { createAttachment } from '@vinyasa/base'
import type { Behaviour, Execute, Operation } from '@vinyasa/pipeline'
import type { ExecutionResult } from 'graphql'
import type { DocumentProfile } from '../document/document-profile.ts'
import type { InvalidationCause } from '../options.ts'
import type { CacheEngine } from '../response-cache.ts'
import type { Admission } from './admission.ts'

/**
 * Evicts after a mutation and before its answer goes out, whether it succeeded, failed in part or
 * threw: a backend may have committed in every case.
 */
export function createMutationEviction(
  cache: CacheEngine,
  admission: Admission,
): Required<Pick<Behaviour, 'execute' | 'deliver'>> {
  const { invalidateOnMutation = true } = cache.options
  const evicted = createAttachment<true>()

  function profileOf({ prepared }: Operation): DocumentProfile | undefined {
    return invalidateOnMutation ? admission.profileOf(prepared) : undefined
  }

  async function executeAndEvict(
    operation: Operation,
    next: Execute,
    profile: DocumentProfile,
  ): Promise<unknown> {
    let result: unknown
    const changed = await cache.changing()
    try {
      result = await next(operation)
      return result
    } finally {
      evicted.set(operation.context, true)
      if (!operation.progress.isRefused) await evictFor(cache, profile, result)
      changed?.()
    }
  }

  return {
    execute(operation, next) {
      const profile = profileOf(operation)
      return profile ? executeAndEvict(operation, next, profile) : next(operation)
    },
    /** Evicts for what another plugin has executed in this place; one that only answers has refused it. */
    deliver(operation, result) {
      const { prepared, progress, context } = operation
      if (prepared.definition.operation !== 'mutation' || evicted.get(context)) return result
      // A plugin before the cache has answered: nobody has executed it.
      const isAnswered = progress.isFinal || progress.isRefused
      const profile = isAnswered ? undefined : profileOf(operation)
      return profile ? evictFor(cache, profile, result).then(() => result) : result
    },
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
