import { useDeferSplitter } from '@vinyasa/defer-splitter'
import type { LiveQueryPlugin } from '@vinyasa/live-query'
import type { Room } from '@vinyasa/base'
import { usePipeline } from '@vinyasa/pipeline'
import { useResponseCache } from '@vinyasa/response-cache'
import { useSources, type SourcesPlugin, type Source } from '@vinyasa/source-kit'
import { type GraphQLDirective, Kind, type DocumentNode } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { withBehaviour } from '../behaviour.ts'
import type { GatewayConfig } from '../config/types.ts'
import { costPlugins } from '../cost/cost-limit.ts'
import { useOperationSources } from '../dependencies/own-code/operation-sources.ts'
import { useOwnMutations } from '../dependencies/own-mutations.ts'
import { federationSource } from '../federation/federation-source.ts'
import { useInvalidateEndpoint } from '../http/invalidate.ts'
import { useLeftClients } from '../http/left-clients.ts'
import { useParameterTypes } from '../http/parameters.ts'
import { useProbes } from '../http/probes.ts'
import type { HttpSettings } from '../presets.ts'
import { safetyPlugins } from '../safety/plugins.ts'
import { undefinedIn } from '../schema/type-defs.ts'
import type { Parts } from './parts.ts'
import type { IResolvers } from '@graphql-tools/utils'
import { extendWith } from '../schema/extend-schema.ts'
import { mistakeAt } from '../errors.ts'

/**
 * Throws `ConfigError` when the config adds a plugin that the gateway has already: two caches would evict each
 * for itself, and the second `@defer` or `@live` would never see an operation. `own`: settings of the config that turn on
 * a plugin of the gateway.
 */
function refuseDoubles(added: readonly Plugin[], own: ReadonlySet<unknown>): void {
  for (const [index, plugin] of added.entries()) {
    const { name } = Object((plugin as { readonly behaviour?: unknown }).behaviour) as {
      readonly name?: unknown
    }
    if (!own.has(name)) continue
    throw mistakeAt(
      ['plugins', index],
      `the gateway already adds this plugin because \`${String(name)}\` is on; remove the plugin from plugins, and set its options in \`${String(name)}\``,
    )
  }
}

/** The config's `typeDefs` and `resolvers` as a source that adds to what all others have. */
function typeDefsSource(
  typeDefs: DocumentNode | undefined,
  resolvers: IResolvers | undefined,
): readonly Source[] {
  if (!typeDefs && !resolvers) return []
  const document = typeDefs ?? { kind: Kind.DOCUMENT, definitions: [] }
  return [{ id: 'typeDefs', fields: [], extend: (schema) => extendWith(schema, document, resolvers) }]
}

/** What is made for one gateway, beside the parts that were opened. */
export interface Made {
  readonly http: HttpSettings
  readonly live: LiveQueryPlugin
  /** Of the status page, where there is one. */
  readonly status: Plugin | undefined
  readonly liveStreams: Plugin
  readonly subscriptions: Plugin
  /** Where what is kept of documents has its room. */
  readonly documentRoom: Room
  readonly schema: Plugin
  isReady(): Promise<boolean>
}

/**
 * All plugins of a gateway, in the order of their stages: who asks, what is answered from the cache, what is recorded, what is
 * refused, how it is delivered, and what executes it.
 */
export function pluginsOf(
  parts: Parts,
  { http, live, status, liveStreams, subscriptions, schema, documentRoom, isReady }: Made,
): object[] {
  const { config, bus, cache, sources, observability, access, paths } = parts
  const cachePlugin = cache && useResponseCache(cache)
  const operationSources = useOperationSources(sources, config)
  const defer = deferPlugin(config)
  const added = config.plugins ?? []
  const own = ['defer', 'liveQuery'] as const
  refuseDoubles(
    added,
    new Set([...(cache ? ['responseCache'] : []), ...own.filter((name) => config[name] !== false)]),
  )
  // A plugin that wraps the executor would be taken for an executor that answers as a whole. Behind the cache otherwise,
  // which answers hits before parse as long as nobody before it looks at the execution.
  const isDeferFirst = added.some((plugin) => plugin.onExecute !== undefined)
  return [
    operationSources.first,
    useProbes(paths, isReady),
    useParameterTypes(),
    useLeftClients(),
    ...access.first,
    ...(isDeferFirst ? [defer] : []),
    // Before the cache, so that one that hooks into parse, validate or execute sees hits like misses.
    ...added,
    ...access.behindPlugins,
    ...(cachePlugin ? [cachePlugin] : []),
    operationSources.behindCache,
    ...observability.plugins,
    ...(status ? [withBehaviour(status)] : []),
    ...(config.invalidate ? [withBehaviour(useInvalidateEndpoint(bus, config.invalidate))] : []),
    ...safetyPlugins(http),
    ...(isDeferFirst ? [] : [defer]),
    useOwnMutations(bus),
    ...costPlugins(config, observability.observeCost),
    ...access.beforeLive,
    live,
    withBehaviour(liveStreams),
    withBehaviour(subscriptions),
    ...sources.map((source) => source.plugin),
    ownSources(parts, [...defer.directives, ...live.directives]),
    schema,
    usePipeline({ liftLiterals: true, room: documentRoom }),
  ]
}

/**
 * The sources that the gateway has by itself: what the config adds to the others', and the subgraph over all of them. The schema
 * is made with the directives of behaviours, which need not make it anew for them.
 */
function ownSources(
  { config, typeDefs, onLargeAnswers }: Parts,
  directives: readonly GraphQLDirective[],
): SourcesPlugin {
  const { maxAnswerObjects, maxAnswerBytes } = config.graphql?.limits ?? {}
  return useSources([...typeDefsSource(typeDefs, config.resolvers), ...federationSource(config)], {
    maxAnswerObjects,
    maxAnswerBytes,
    directives: undefinedIn(typeDefs, directives),
    onLargeAnswers,
  })
}

function deferPlugin({ defer, preset = 'development' }: GatewayConfig): ReturnType<typeof useDeferSplitter> {
  return useDeferSplitter(defer === false ? 'disabled' : (defer ?? preset))
}
