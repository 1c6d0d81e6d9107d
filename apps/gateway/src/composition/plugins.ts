import { useDeferSplitter } from '@vinyasa/defer-splitter'
import type { LiveQueryPlugin } from '@vinyasa/live-query'
import type { Room } from '@vinyasa/core'
import {
  usePipeline,
  argsOf,
  type Execute,
  type Operation,
  withBehaviour,
  type PluginWithBehaviour,
} from '@vinyasa/core/pipeline'
import { useResponseCache } from '@vinyasa/response-cache'
import { useSources, type SourcesPlugin, type Source } from '@vinyasa/source-kit'
import {
  type GraphQLDirective,
  Kind,
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLField,
  GraphQLError,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { GatewayConfig } from '../config/types.ts'
import { costPlugins } from '../cost/cost-limit.ts'
import { useOperationSources } from '../dependencies/own-code/operation-sources.ts'
import { federationSource } from '../federation/federation-source.ts'
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
import {
  createDependencyCache,
  selectOperation,
  type InvalidationBus,
  type InvalidationEvent,
} from '@vinyasa/invalidation'
import { z } from 'zod'
import type { InvalidateConfig } from '../http/http-types.ts'
import { parseJson, readBody } from '../http/request-body.ts'
import { isSecret } from '../texts/is-secret.ts'

const HEADER = 'x-invalidate-secret'
const MAX_BYTES = 262_144
const MAX_EVENTS = 1000
const name = z.string().regex(/^(\*|[_A-Za-z][_0-9A-Za-z]{0,127})$/)

const event = z.strictObject({
  entityType: name,
  operation: name,
  entityId: z
    .union([z.string().min(1).max(1024), z.number()])
    .transform(String)
    .optional(),
})
const events = z.union([event.transform((one) => [one]), z.array(event).min(1).max(MAX_EVENTS)])

/**
 * `POST /invalidate`: for a backend that changes its data by itself. The body is an event,
 * `{"entityType": "User", "operation": "update", "entityId": "1"}`, or a list of them. Answers 204 once caches and
 * live queries of this gateway know.
 */
function useInvalidateEndpoint(bus: InvalidationBus, { secret }: InvalidateConfig): Plugin {
  async function answer(request: Request): Promise<{ status: number; message?: string }> {
    if (request.method !== 'POST') return { status: 405, message: 'Send invalidation events with POST.' }
    const sent = request.headers.get(HEADER)
    if (sent === null || !isSecret(sent, secret)) {
      return { status: 401, message: `The header ${HEADER} is missing or does not match invalidate.secret.` }
    }
    const batch = await readEvents(request)
    if ('status' in batch) return batch
    await bus.publish(batch)
    return { status: 204 }
  }

  return {
    async onRequest({ request, url, fetchAPI, endResponse }) {
      if (url.pathname !== '/invalidate') return
      const { status, message } = await answer(request)
      const body = message === undefined ? null : `${JSON.stringify({ error: message })}\n`
      endResponse(
        new fetchAPI.Response(body, {
          status,
          headers: {
            ...(body !== null && { 'content-type': 'application/json' }),
            ...(status === 405 && { allow: 'POST' }),
          },
        }),
      )
    },
  }
}

async function readEvents(
  request: Request,
): Promise<readonly InvalidationEvent[] | { status: number; message: string }> {
  let value: unknown
  try {
    value = parseJson(await readBody(request, MAX_BYTES))
  } catch (error) {
    if (error instanceof GraphQLError && statusOf(error) === 413)
      return { status: 413, message: error.message }
    return {
      status: 400,
      message: 'The body cannot be read as a JSON object or list; send an event or a list of events.',
    }
  }
  const parsed = events.safeParse(value)
  if (parsed.success) return parsed.data
  const message = `Expected an event such as {"entityType": "User", "operation": "update", "entityId": "1"}, or a list of 1 to ${MAX_EVENTS} events. entityId is optional, and "*" matches any entityType or operation.`
  return { status: 400, message }
}

function statusOf(error: GraphQLError): unknown {
  const { http } = error.extensions as { http?: { status?: unknown } }
  return http?.status
}

/**
 * Announces what mutations written by hand change, which no source does: what their results are made of,
 * or state, and everything where that is nothing. After they ended, whether well or not, and before the answer; what is refused changes nothing.
 */
function useOwnMutations(bus: InvalidationBus): PluginWithBehaviour {
  const dependenciesOf = createDependencyCache()

  function ownFields({
    schema,
    document,
    operationName,
  }: ExecutionArgs): readonly GraphQLField<unknown, unknown>[] {
    const root = schema.getMutationType()
    const fields = selectOperation(schema, document, operationName)?.fields ?? []
    return fields
      .filter(({ parent }) => parent === root)
      .flatMap(({ definitions: [definition] }) => definition?.field ?? [])
      .filter(({ extensions }) => extensions['origin'] === undefined)
  }

  async function announce(
    args: ExecutionArgs,
    fields: readonly GraphQLField<unknown, unknown>[],
  ): Promise<void> {
    const { ofMutationField } = dependenciesOf(args.schema)
    const changes = fields.map(ofMutationField)
    const types = new Set(changes.flatMap((change) => (change.everything ? ['*'] : [...change.types])))
    await bus.publish([...types].map((entityType) => ({ entityType, operation: '*' })))
  }

  return withBehaviour(
    {},
    {
      execute(operation, next) {
        if (operation.prepared.definition.operation !== 'mutation') return next(operation)
        const args = argsOf(operation)
        const fields = ownFields(args)
        return fields.length === 0
          ? next(operation)
          : executeAndAnnounce(operation, next, () => announce(args, fields))
      },
    },
  )
}

async function executeAndAnnounce(
  operation: Operation,
  next: Execute,
  announce: () => Promise<void>,
): Promise<unknown> {
  try {
    return await next(operation)
  } finally {
    if (!operation.progress.isRefused) await announce()
  }
}

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
    liveStreams,
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
