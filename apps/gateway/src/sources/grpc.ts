import type { GrpcSourceConfig } from '../config/types.ts'
import { ConfigError } from '../errors.ts'
import type { SourceEnvironment } from './open-sources.ts'
import type { Source } from './source.ts'
export async function openGrpcSource(
  name: string,
  _config: GrpcSourceConfig,
  _environment: SourceEnvironment,
): Promise<Source> {
  throw new ConfigError(`grpc.${name}: pending`)
}
export function grpcFiles(_config: GrpcSourceConfig, _baseDirectory: string): readonly string[] {
  return []
}
