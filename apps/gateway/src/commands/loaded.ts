import { documentFiles } from '../access/access.ts'
import type { GatewayConfig } from '../config/types.ts'
import { filesOf } from '../sources/open-sources.ts'

/** A config file as it was read. */
export interface Loaded {
  readonly config: GatewayConfig
  /** Paths in the config are relative to it. */
  readonly baseDirectory: string
  /** All that it was read from. */
  readonly files: readonly string[]
}

/**
 * Returns the files of a config and those that it names, which are watched even while they cannot be read.
 */
export function filesRead({ config, baseDirectory, files }: Loaded): readonly string[] {
  return [...files, ...filesOf(config, baseDirectory), ...documentFiles(config, baseDirectory)]
}
