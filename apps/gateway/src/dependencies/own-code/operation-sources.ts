import { createAttachment, isLiveRun, keyed, namelessContext } from '@vinyasa/core'
import { describeOperationVariesBy, type VariesBy } from '@vinyasa/invalidation'
import { type PreparedDocument, type PluginWithBehaviour, withBehaviour } from '@vinyasa/core/pipeline'
import type { AnswerSections } from '../../answers/answer-types.ts'
import type { PresetSections } from '../../presets.ts'
import { GraphQLError } from 'graphql'

/** A source of the gateway, as resolvers of the config call it. */
interface Source {
  readonly name: string
  readonly api: object
  /** The member of `api` that calls it. */
  readonly callMember: string
  readonly variesBy: VariesBy | undefined
}

type Call = (name: unknown, args?: unknown, scope?: { readonly context?: unknown } | null) => unknown

type CheckCall = (source: Source, context: object) => void

/**
 * Adds `context.sources`. A call is made on behalf of the operation whose context it is, so that it forwards and ends what the
 * operation does; a scope with another `context` has it made for that one, with `context: null` for nobody. `behindCache` notes
 * which operation a context is of, refreshes of the cache included.
 */
export function useOperationSources(
  sources: readonly Source[],
  config: AnswerSections & PresetSections,
): { readonly first: PluginWithBehaviour; readonly behindCache: PluginWithBehaviour } {
  const operations = createAttachment<PreparedDocument>()
  const sourcesFor = operationSources(sources, createCallCheck(operations, config))
  return {
    first: withBehaviour(
      {},
      {
        context(context) {
          context['sources'] = sourcesFor(context)
        },
      },
    ),
    behindCache: withBehaviour(
      {},
      {
        execute(operation, next) {
          const { context, prepared } = operation
          operations.set(context, prepared)
          // A refresh of the cache has a copy of the context of a request that has ended.
          context['sources'] = sourcesFor(context)
          return next(operation)
        },
      },
    ),
  }
}

/**
 * Returns the check that a call forwards nothing of the request besides what the statements of the operation's fields name.
 * Otherwise the response is not stored; in development, and in live queries, whose groups share each run, it is an error.
 */
function createCallCheck(
  operations: { get(context: object): PreparedDocument | undefined },
  { responseCache = false, liveQuery = {}, preset }: AnswerSections & PresetSections,
): CheckCall {
  const hasSession = typeof responseCache === 'object' && responseCache.session !== undefined
  const hasContextKey = liveQuery !== false && liveQuery.contextKey !== undefined
  const declaredBy = keyed(
    ({ schema, document, operationName }: PreparedDocument) =>
      describeOperationVariesBy(schema, document, operationName),
    new WeakMap<PreparedDocument, VariesBy>(),
  )
  return ({ name, variesBy }, context) => {
    const operation = operations.get(context)
    const isLive = isLiveRun(context)
    if (!variesBy || operation?.definition.operation !== 'query' || !(isLive || responseCache)) return
    const declared = declaredBy(operation)
    const saysWhoAsks = isLive ? hasContextKey : hasSession
    if (declared.isPersonal && !saysWhoAsks) return
    const more = variesBy.headers.filter(
      (header) => !declared.headers.includes(header) && !(header === 'cookie' && saysWhoAsks),
    )
    if (more.length === 0 && (variesBy.unknown === undefined || saysWhoAsks)) return
    Object.assign(context, { unshareable: true })
    if (isLive || preset !== 'production') throw undeclaredRead(name, more, declared.headers)
  }
}

function operationSources(sources: readonly Source[], check: CheckCall): (context: object) => object {
  const byName = new Map(sources.map((source) => [source.name, source]))
  const apis = Object.fromEntries(sources.map(({ name, api }) => [name, api]))

  /** Each is made when it is asked for: most operations ask for none. */
  return (context) => {
    const ownOf = keyed((source: Source) => sourceFor(source, context, check))
    return new Proxy(apis, {
      get(_apis, name) {
        const source = byName.get(name as string)
        return source ? ownOf(source) : (Reflect.get(apis, name) as unknown)
      },
      set: () => false,
    })
  }
}

function sourceFor(source: Source, own: object, check: CheckCall): object {
  const { api, callMember } = source
  const call = (api as Readonly<Record<string, Call>>)[callMember] as Call
  const value: Call = (name, args, scope) => {
    const { context = own } = scope ?? {}
    if (context === null) return call(name, args, { ...scope, context: namelessContext(own) })
    check(source, own)
    return call(name, args, { ...scope, context })
  }
  return Object.create(api, { [callMember]: { value, enumerable: true } }) as object
}

/** Code of the config calls a source that forwards more of the request than the statements of the operation's fields name. */
function undeclaredRead(
  source: string,
  headers: readonly string[],
  declared: readonly string[],
): GraphQLError {
  const all = [...declared, ...headers].map((name) => `'${name}'`).join(', ')
  return new GraphQLError(
    `A resolver calls context.sources.${source}, which forwards ${headers.map((name) => `the request header "${name}"`).join(' and ') || 'undeclared request data'}. The response would be shared with clients that send different values. ${headers.length > 0 ? `Declare the request headers for the field with dependencies: { 'Type.field': { variesBy: [${all}] } }` : 'Identify the caller with responseCache.session (liveQuery.contextKey for live queries)'}, or call the source with { context: null }.`,
    { extensions: { code: 'UNDECLARED_READ' } },
  )
}
