import { createAttachment, isLiveRun } from '@vinyasa/base'
import { describeOperationAsker, type Asker } from '@vinyasa/invalidation'
import { Kind, type GraphQLResolveInfo, type OperationDefinitionNode } from 'graphql'
import { headersOfTokens } from '../../access/tokens/token-place.ts'
import type { AccessSections } from '../../access/access-types.ts'
import type { AnswerSections } from '../../answers/answer-types.ts'
import type { PresetSections } from '../../presets.ts'
import { recordedContext } from './recorded-context.ts'
import { Reads } from './reads.ts'

/** Returns what code of the config is given in place of a context. */
export type ViewOf = (context: unknown, info: GraphQLResolveInfo) => unknown

/** Undefined where no answer is kept for others. */
export function createViewOf(
  config: AnswerSections & PresetSections & Pick<AccessSections, 'auth'>,
): ViewOf | undefined {
  const { responseCache = false, liveQuery = {}, preset } = config
  if (responseCache === false && liveQuery === false) return undefined
  const isCached = responseCache !== false
  const hasSession = typeof responseCache === 'object' && responseCache.session !== undefined
  const hasContextKey = liveQuery !== false && liveQuery.contextKey !== undefined
  const tokenHeaders = headersOfTokens(config.auth)
  const views = createAttachment<Map<string, object>>()
  const declaredIn = createDeclared()

  return (context, info) => {
    if (typeof context !== 'object' || context === null || info.operation.operation !== 'query')
      return context
    const isLive = isLiveRun(context)
    // Code may read what it likes for an answer that is neither kept nor shared.
    if (!isLive && !isCached) return context
    const coordinate = `${info.parentType.name}.${info.fieldName}`
    let known = views.get(context)
    if (!known) views.set(context, (known = new Map()))
    let view = known.get(coordinate)
    if (!view) {
      const saysWhoAsks = isLive ? hasContextKey : hasSession
      const declared = declaredIn(info)
      // A run of a live query is for a group: its answer cannot be left out.
      const isStrict = isLive || preset !== 'production'
      const policy = { coordinate, declared, tokenHeaders, saysWhoAsks, isStrict }
      known.set(coordinate, (view = recordedContext(context, new Reads(policy, context))))
    }
    return view
  }
}

/**
 * Creates the function for the request headers that tell askers of a field apart. A field of which nothing is
 * said, such as a method of what another one gave, has those of the operation.
 */
function createDeclared(): (info: GraphQLResolveInfo) => ReadonlySet<string> {
  const byOperation = new WeakMap<OperationDefinitionNode, ReadonlySet<string>>()
  return ({ schema, parentType, fieldName, operation, fragments }) => {
    const own = parentType.getFields()[fieldName]?.extensions['asker'] as Asker | undefined
    const ofAll = schema.extensions['asker'] as Asker | undefined
    if (own) return new Set([...own.headers, ...(ofAll?.headers ?? [])])
    let known = byOperation.get(operation)
    if (!known) {
      const document = { kind: Kind.DOCUMENT, definitions: [operation, ...Object.values(fragments)] } as const
      const { headers } = describeOperationAsker(schema, document, operation.name?.value)
      byOperation.set(operation, (known = new Set(headers)))
    }
    return known
  }
}
