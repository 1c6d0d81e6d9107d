// For a gateway.config.ts.
export { defineConfig } from './define-config.ts'
export type { GatewayConfig } from './config/types.ts'
export type { GraphqlConfig, InvalidateConfig, LimitsConfig, ServerConfig } from './http/http-types.ts'
export type { LogConfig } from './logging/log-types.ts'
export type { MetricsConfig } from './observability/observability-types.ts'

// For embedding the gateway in a program of one's own.
export { ConfigError } from './errors.ts'
export { createGateway, type CreateGatewayOptions, type Gateway, type SourceHealth } from './gateway.ts'
export { serve, type CloseOptions, type GatewayServer, type ServeOptions } from './server.ts'
