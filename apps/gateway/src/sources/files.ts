import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError, findingAt } from '../errors.ts'
import type { GrpcSourceConfig, OpenApiConfig, RestSourceConfig } from './types.ts'

/** The files and folders that a source is read from. */
export function grpcFiles(config: GrpcSourceConfig, baseDirectory: string): readonly string[] {
  const { protoFiles = [], includePaths = [], descriptorSet } = withAbsolutePaths(config, baseDirectory)
  return [...protoFiles, ...includePaths, ...(typeof descriptorSet === 'string' ? [descriptorSet] : [])]
}

export function withAbsolutePaths(config: GrpcSourceConfig, baseDirectory: string): GrpcSourceConfig {
  const absolute = (path: string): string => resolve(baseDirectory, path)
  const { protoFiles, includePaths, descriptorSet } = config
  return {
    ...config,
    // A path that is none from here is one that the include paths know.
    protoFiles: protoFiles?.map((path) => (existsSync(absolute(path)) ? absolute(path) : path)),
    includePaths: includePaths?.map(absolute),
    descriptorSet: typeof descriptorSet === 'string' ? absolute(descriptorSet) : descriptorSet,
  }
}

/** Where the config names a file that it reads messages from; an import of one is found where all are. */
export function placeOfFile(
  file: string | undefined,
  config: GrpcSourceConfig,
  baseDirectory: string,
): readonly PropertyKey[] {
  const { protoFiles = [] } = withAbsolutePaths(config, baseDirectory)
  if (file === undefined || protoFiles.length === 0) return []
  const index = protoFiles.indexOf(file)
  return index < 0 ? ['protoFiles'] : ['protoFiles', index]
}

/** Throws `ConfigError` for a folder to look up imports in that is not there. */
export function checkFolders({ includePaths = [] }: GrpcSourceConfig, baseDirectory: string): void {
  const findings = includePaths.flatMap((path, index) =>
    existsSync(resolve(baseDirectory, path))
      ? []
      : findingAt(
          ['includePaths', index],
          `folder "${path}" does not exist; expected a folder, relative to the config`,
        ),
  )
  if (findings.length > 0) throw new ConfigError(findings)
}

/** The files that a config names; those that they refer to are known once they are read. */
export function restFiles({ openapi }: RestSourceConfig, baseDirectory: string): readonly string[] {
  const { file } = placeOf(openapi, baseDirectory)
  return file === undefined ? [] : [file]
}

/** Where an entry's document is, with its options; paths are absolute. */
export function placeOf(openapi: string | OpenApiConfig | undefined, baseDirectory: string): OpenApiConfig {
  const isUrl = (place: string): boolean => /^https?:\/\//i.test(place)
  const absolute = (place: string): string => (isUrl(place) ? place : resolve(baseDirectory, place))
  if (typeof openapi === 'string') return isUrl(openapi) ? { url: openapi } : { file: absolute(openapi) }
  const { file, download, ...options } = openapi ?? {}
  return {
    ...options,
    ...(file !== undefined && { file: absolute(file) }),
    ...(download && { download: { ...download, origins: download.origins?.map(absolute) } }),
  }
}
