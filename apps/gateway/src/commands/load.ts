import { loadConfig, type LoadedConfig } from '../config/file/load-config.ts'
import type { CommandContext, PresetFlag } from './context.ts'

/** The config that a command line names, with its preset, which wins. */
export async function load(
  { config: file, preset }: PresetFlag,
  { directory, environment }: CommandContext,
): Promise<LoadedConfig> {
  const { config, ...others } = await loadConfig({ file, directory, environment })
  return { config: preset === undefined ? config : { ...config, preset }, ...others }
}
