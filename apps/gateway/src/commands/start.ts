import type { CommandContext, StartFlags } from './context.ts'
import { loadConfig } from '../config/load-config.ts'
import { withPreset } from '../presets.ts'
import type { Loaded } from './run-gateway.ts'

/** `vinyasa start`: serves until SIGINT or SIGTERM, reloads on SIGHUP. */
export async function startCommand(flags: StartFlags, context: CommandContext): Promise<void> {
  const load = async (): Promise<Loaded> => {
    const { config, baseDirectory, file } = await loadConfig({
      file: flags.config,
      directory: context.directory,
      environment: context.environment,
    })
    return { config: withPreset(config, flags.preset), baseDirectory, file }
  }
  const loaded = await load()
  // A config that cannot be used is reported before the gateway is loaded.
  const { runGateway } = await import('./run-gateway.ts')
  await runGateway(loaded, load, flags, context)
}
