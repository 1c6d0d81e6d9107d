import { useLiveQuery, type LiveQueryPlugin } from '@vinyasa/live-query'
import type { AllowedOrigins } from '@vinyasa/live-query/ws'
import type { GatewayConfig } from '../config/types.ts'
import { originsOf, toPattern } from '../http/cors.ts'
import { createLiveSockets, type LiveSockets, type LiveSocketsOptions } from '../http/live-sockets.ts'
import type { HttpSettings } from '../presets.ts'
import type { Parts } from './parts.ts'

type LiveParts = Pick<Parts, 'config' | 'bus' | 'logger' | 'access'>

/** With live queries off, sockets still serve queries, mutations and subscriptions. */
export function livePlugin({ config: { liveQuery }, bus, logger, access }: LiveParts): LiveQueryPlugin {
  const onError = (error: unknown): void => logger.error(error, 'live query failed')
  if (liveQuery === false) return useLiveQuery({ maxSubscriptions: 0, onError })
  const { allowedOrigins: _, updateFields: __, sockets: ___, ...options } = liveQuery ?? {}
  return useLiveQuery({ ...options, ...access.live, bus, onError })
}

/** The sockets of the endpoint, and of the path below it that is theirs alone. */
export function socketsFor(
  plugin: LiveQueryPlugin,
  { config, logger, access, paths }: LiveParts & Pick<Parts, 'paths'>,
  { http, clientOf }: { readonly http: HttpSettings } & Pick<LiveSocketsOptions, 'clientOf'>,
): LiveSockets {
  return createLiveSockets({
    plugin,
    paths: [paths.graphqlLive, paths.graphql],
    logger,
    allowedOrigins: allowedOrigins(config, http),
    clientOf,
    ...(config.liveQuery && { updateFields: config.liveQuery.updateFields, ...config.liveQuery.sockets }),
    ...access.sockets,
  })
}

/** Pages that may ask over HTTP may open a socket. */
function allowedOrigins({ liveQuery }: GatewayConfig, { cors }: HttpSettings): AllowedOrigins {
  const own = liveQuery === false ? undefined : liveQuery?.allowedOrigins
  return (own ?? originsOf(cors)).map((origin) => toPattern(origin) ?? origin)
}
