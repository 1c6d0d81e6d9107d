import type { GraphqlConfig, HttpSections, ServerConfig, UploadsConfig } from './http/http-types.ts'
import type { CorsSetting } from './http/cors.ts'
import type { JsonLimits } from './limits/json-limits.ts'
import type { DocumentLimits } from './limits/plugin.ts'
import type { LogSections } from './logging/log-types.ts'
import type { LoggerOptions } from './logging/logger.ts'

export type PresetName = 'development' | 'production'

/** The section of the config that every switch starts from. */
export interface PresetSections {
  /** The preset that every switch starts from. Default `development`. */
  readonly preset?: PresetName | undefined
}

/** Every switch that a preset sets; each can be set alone in the config. */
export interface HttpSettings {
  readonly graphiql: boolean
  /** And "Did you mean …" in validation errors. */
  readonly introspection: boolean
  readonly maskedErrors: boolean
  readonly csrfPrevention: boolean
  /** `false`: no CORS headers at all. */
  readonly cors: CorsSetting
  /** Operations in one HTTP request; 1: no batching. */
  readonly batching: number
  readonly maxBodyBytes: number
  /** Undefined: files are read whole, within `maxBodyBytes`. */
  readonly uploads: UploadsConfig | undefined
  readonly limits: DocumentLimits & JsonLimits
}

const DEVELOPMENT: HttpSettings = {
  graphiql: true,
  introspection: true,
  maskedErrors: true,
  csrfPrevention: false,
  cors: false,
  batching: 1,
  maxBodyBytes: 1_048_576,
  uploads: undefined,
  limits: {
    maxDepth: 100,
    maxTokens: 20_000,
    maxAliases: 1000,
    maxDirectives: 100,
    maxDuplicateFields: 1000,
    maxBodyItems: 50_000,
  },
}

const PRODUCTION: HttpSettings = {
  ...DEVELOPMENT,
  graphiql: false,
  introspection: false,
  csrfPrevention: true,
  limits: {
    maxDepth: 15,
    maxTokens: 1000,
    maxAliases: 30,
    maxDirectives: 5,
    maxDuplicateFields: 30,
    maxBodyItems: 50_000,
  },
}

/** The config's own switches over those of its preset (default `development`). */
export function httpSettings(config: HttpSections & PresetSections): HttpSettings {
  const preset = config.preset === 'production' ? PRODUCTION : DEVELOPMENT
  const { limits = {}, ...http }: GraphqlConfig = config.graphql ?? {}
  return {
    graphiql: http.graphiql ?? preset.graphiql,
    introspection: http.introspection ?? preset.introspection,
    maskedErrors: http.maskedErrors ?? preset.maskedErrors,
    csrfPrevention: http.csrfPrevention ?? preset.csrfPrevention,
    cors: http.cors ?? preset.cors,
    batching: http.batching ?? preset.batching,
    maxBodyBytes: http.maxBodyBytes ?? preset.maxBodyBytes,
    uploads: http.uploads ?? preset.uploads,
    limits: {
      maxDepth: limits.maxDepth ?? preset.limits.maxDepth,
      maxTokens: limits.maxTokens ?? preset.limits.maxTokens,
      maxAliases: limits.maxAliases ?? preset.limits.maxAliases,
      maxDirectives: preset.limits.maxDirectives,
      maxDuplicateFields: limits.maxDuplicateFields ?? preset.limits.maxDuplicateFields,
      maxBodyItems: limits.maxBodyItems ?? preset.limits.maxBodyItems,
    },
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

/** The config with the preset of the command line, which wins. */
export function withPreset<Config extends PresetSections>(
  config: Config,
  preset: PresetName | undefined,
): Config {
  return preset === undefined ? config : { ...config, preset }
}

/** Log settings: pretty at the development preset, JSON in production. */
export function logSettings(config: LogSections & PresetSections): LoggerOptions {
  const { level, format = config.preset === 'production' ? 'json' : 'pretty', redact } = config.log ?? {}
  return { level, format, redact }
}
