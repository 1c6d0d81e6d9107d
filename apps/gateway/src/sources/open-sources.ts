import type { GatewayConfig } from '../config/types.ts'
import { grpcFiles, openGrpcSource } from './grpc.ts'
import { namesByHand } from './names.ts'
import { openRestSource, restFiles } from './rest.ts'
import type { Source, SourceEnvironment } from './source.ts'

/**
 * Opens every source of the config. If one cannot be opened the others are closed, and its error is thrown. What is
 * imported for a REST source is called otherwise than what the config declares by hand, gRPC sources have, and REST
 * sources before it: one that is added after the others changes no name.
 */
export async function openSources(
  config: GatewayConfig,
  environment: SourceEnvironment,
): Promise<readonly Source[]> {
  const opening = Object.entries(config.grpc ?? {}).map(([name, options]) =>
    openGrpcSource(name, options, environment),
  )
  const opened = await Promise.allSettled(opening)
  const sources = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  try {
    const failure = opened.find((result) => result.status === 'rejected')
    if (failure) throw failure.reason
    for (const [name, options] of Object.entries(config.rest ?? {})) {
      const taken = (): readonly string[] => [
        ...namesByHand(config, name),
        ...sources.flatMap((source) => source.names()),
      ]
      sources.push(await openRestSource(name, options, environment, taken))
    }
    return sources
  } catch (error) {
    await Promise.all(sources.map((source) => source.close()))
    throw error
  }
}

/** The files that the config's sources are read from, for `--watch`. */
export function filesOf(config: GatewayConfig, baseDirectory: string): readonly string[] {
  return [
    ...Object.values(config.grpc ?? {}).flatMap((options) => grpcFiles(options, baseDirectory)),
    ...Object.values(config.rest ?? {}).flatMap((options) => restFiles(options, baseDirectory)),
  ]
}
