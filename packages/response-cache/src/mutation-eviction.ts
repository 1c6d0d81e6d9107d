import type { ExecutionArgs, ExecutionResult } from 'graphql'
import type { DocumentProfile } from './document-profile.ts'
import type { InvalidationCause } from './options.ts'
import type { ExecutionInput, Pipeline } from './pipeline.ts'
import type { CacheEngine } from './response-cache.ts'
import type { InvalidationTarget } from './tags.ts'

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
      try {
        result = await executeFn(args)
        return result
      } finally {
        await evict(result)
      }
    })
    // Another plugin may have put its own execute in place of this one.
    return { onExecuteDone: ({ result }) => evict(result) }
  }
}

async function evictFor(cache: CacheEngine, profile: DocumentProfile, result: unknown): Promise<void> {
  if (isSilent(cache, profile)) {
    // Nothing says what `deleteUser: Boolean` changed.
    await cache.invalidateTags('all')
    return
  }
  const entities = cache.byEntity ? entitiesOf(profile, result) : []
  const cause: InvalidationCause = { source: 'mutation', events: [], types: profile.types, entities }
  await cache.invalidate(cause)
}

/** A root field without object type, whose source does not announce its changes on the bus either. */
function isSilent(cache: CacheEngine, profile: DocumentProfile): boolean {
  const { bus, strategy } = cache.options
  if (typeof strategy === 'function') return false
  return profile.untypedFields.some((field) => !bus || field.extensions['origin'] === undefined)
}

function entitiesOf(profile: DocumentProfile, result: unknown): InvalidationTarget[] {
  const data = (result as ExecutionResult | undefined)?.data
  // Without a result, or when it comes in parts, the types have to do.
  if (!data) return profile.types.map((type) => ({ type }))
  const found = profile.entities.tagsOf(data).map((tag) => {
    const colon = tag.indexOf(':')
    const id = tag.slice(colon + 1)
    return { type: tag.slice(0, colon), id: id === '?' ? undefined : id }
  })
  return found.length > 0 ? found : profile.types.map((type) => ({ type }))
}
