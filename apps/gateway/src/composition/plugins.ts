import { useDeferSplitter } from '@vinyasa/defer-splitter'
import type { LiveQueryPlugin } from '@vinyasa/live-query'
import type { Room } from '@vinyasa/base'
import { usePipeline } from '@vinyasa/pipeline'
import { useResponseCache } from '@vinyasa/response-cache'
import { useSources, type SourcesPlugin } from '@vinyasa/source-kit'
import type { GraphQLDirective } from 'graphql'
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
import { typeDefsSource } from '../schema/type-defs-source.ts'
import { undefinedIn } from '../schema/type-defs.ts'
import type { Parts } from './parts.ts'
import { refuseDoubles } from './plugin-order.ts'

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
  refuseDoubles(added, {
    responseCache: cachePlugin,
    defer: config.defer === false ? undefined : defer,
    liveQuery: config.liveQuery === false ? undefined : live,
  })
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
