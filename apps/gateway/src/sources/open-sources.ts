import type { GatewayConfig } from '../config/types.ts'
import { ConfigError, messageOf } from '../errors.ts'
import { grpcFiles, openGrpcSource } from './grpc.ts'
import { namesByHand } from './names.ts'
import { openRestSource, restFiles } from './rest.ts'
import type { Source, SourceEnvironment } from './source.ts'

/**
 * Opens every source of the config. If some cannot be opened the others are closed, and one error tells of all. What is
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
    const failures = opened.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    )
    for (const [name, options] of Object.entries(config.rest ?? {})) {
      const taken = (): readonly string[] => [
        ...namesByHand(config, name),
        ...sources.flatMap((source) => source.names()),
      ]
      try {
        sources.push(await openRestSource(name, options, environment, taken))
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 1) throw new ConfigError(failures.map(messageOf).join('\n'), { cause: failures[0] })
    if (failures.length === 1) throw failures[0]
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
