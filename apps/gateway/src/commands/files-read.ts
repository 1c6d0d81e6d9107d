import { documentFiles } from '../access/access.ts'
import type { LoadedConfig } from '../config/file/load-config.ts'
import { filesOf } from '../sources/open-sources.ts'

/**
 * Returns the files of a config and those that it names, which are watched even while they cannot be read.
 */
export function filesRead({ config, baseDirectory, files }: LoadedConfig): readonly string[] {
  return [...files, ...filesOf(config, baseDirectory), ...documentFiles(config, baseDirectory)]
}
