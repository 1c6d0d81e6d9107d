import type { GatewayConfig } from '../config/types.ts'
import { grpcFiles, openGrpcSource } from './grpc.ts'
import { openRestSource } from './rest.ts'
import type { Source, SourceEnvironment } from './source.ts'

/** Opens every source of the config. If one cannot be opened the others are closed, and its error is thrown. */
export async function openSources(
  config: GatewayConfig,
  environment: SourceEnvironment,
): Promise<readonly Source[]> {
  const opening = [
    ...Object.entries(config.grpc ?? {}).map(([name, options]) => openGrpcSource(name, options, environment)),
    ...Object.entries(config.rest ?? {}).map(([name, options]) => openRestSource(name, options, environment)),
  ]
  const opened = await Promise.allSettled(opening)
  const failure = opened.find((result) => result.status === 'rejected')
  const sources = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  if (!failure) return sources
  await Promise.all(sources.map((source) => source.close()))
  throw failure.reason
}

/** The files that the config's sources are read from, for `--watch`. */
export function filesOf(config: GatewayConfig, baseDirectory: string): readonly string[] {
  return Object.values(config.grpc ?? {}).flatMap((options) => grpcFiles(options, baseDirectory))
}
