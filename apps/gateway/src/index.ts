// For a gateway.config.ts.
export { defineConfig } from './define-config.ts'
export type {
  GatewayConfig,
  GraphqlConfig,
  InvalidateConfig,
  LimitsConfig,
  LogConfig,
  MetricsConfig,
  ServerConfig,
  TracingConfig,
} from './config/types.ts'

// For embedding the gateway in a program of one's own.
export { ConfigError } from './errors.ts'
export { createGateway, type CreateGatewayOptions, type Gateway, type SourceHealth } from './gateway.ts'
export { serve, type CloseOptions, type GatewayServer, type ServeOptions } from './server.ts'
