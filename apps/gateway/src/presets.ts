import type { GraphqlConfig, HttpSections, ServerConfig, UploadsConfig } from './http/http-types.ts'
import type { JsonLimits } from './limits/json-limits.ts'
import type { DocumentLimits } from './limits/scan-tokens.ts'
import type { LogConfig, LogSections } from './logging/log-types.ts'

export type PresetName = 'development' | 'production'

/** The section of the config that selects a preset. */
export interface PresetSections {
  /** The preset, which sets the defaults of other settings. Default `development`. */
  readonly preset?: PresetName | undefined
}

type Switch =
  | 'graphiql'
  | 'introspection'
  | 'maskedErrors'
  | 'csrfPrevention'
  | 'cors'
  | 'batching'
  | 'maxBodyBytes'
  | 'documentCacheMaxBytes'

/** Every switch that a preset sets; each can be set alone in the config. */
export type HttpSettings = { readonly [Name in Switch]: NonNullable<GraphqlConfig[Name]> } & {
  /** Undefined: files are read whole, within `maxBodyBytes`. */
  readonly uploads: UploadsConfig | undefined
  readonly limits: DocumentLimits & JsonLimits
}

/** The config's own switches over those of its preset (default `development`). */
export function httpSettings({ preset, graphql = {} }: HttpSections & PresetSections): HttpSettings {
  const isProduction = preset === 'production'
  const {
    graphiql = !isProduction,
    introspection = !isProduction,
    maskedErrors = true,
    csrfPrevention = isProduction,
    cors = false,
    batching = 1,
    maxBodyBytes = 1_048_576,
    documentCacheMaxBytes = 67_108_864,
    uploads,
    limits = {},
  } = graphql
  const {
    maxDepth = isProduction ? 15 : 100,
    maxTokens = isProduction ? 1000 : 20_000,
    maxAliases = isProduction ? 30 : 1000,
    maxDuplicateFields = isProduction ? 30 : 1000,
    maxBodyItems = 50_000,
  } = limits
  const maxDirectives = isProduction ? 5 : 100
  return {
    graphiql,
    introspection,
    maskedErrors,
    csrfPrevention,
    cors,
    batching,
    maxBodyBytes,
    documentCacheMaxBytes,
    uploads,
    limits: { maxDepth, maxTokens, maxAliases, maxDirectives, maxDuplicateFields, maxBodyItems },
  }
}

/** Each connection costs memory, and production has strangers. */
const PRODUCTION_CONNECTIONS = 10_000

/** Longer than balancers keep idle connections to what is behind them: nginx 60 s, as those of clouds do. */
const PRODUCTION_KEEP_ALIVE_MS = 75_000

/** Settings of the server. */
export function serverSettings({ preset, server = {} }: HttpSections & PresetSections): ServerConfig {
  const isProduction = preset === 'production'
  const { maxConnections = isProduction ? PRODUCTION_CONNECTIONS : undefined } = server
  const { keepAliveTimeoutMs = isProduction ? PRODUCTION_KEEP_ALIVE_MS : undefined } = server
  return { ...server, maxConnections, keepAliveTimeoutMs }
}

/** Log settings: pretty at the development preset, JSON in production. */
export function logSettings(config: LogSections & PresetSections): LogConfig {
  return { ...config.log, format: config.log?.format ?? (config.preset === 'production' ? 'json' : 'pretty') }
}
