import type { GatewayConfig } from './config/types.ts'

/** Gives a `gateway.config.ts` its types; returns what it was given. */
export function defineConfig(config: GatewayConfig): GatewayConfig {
  return config
}
