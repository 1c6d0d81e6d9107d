import type { CommandContext, StartFlags } from './context.ts'
import { refuseSecondGraphql } from '../config/file/own-packages.ts'
import { toPort } from './port.ts'
import { ConfigError } from '../errors.ts'
import { load } from './load.ts'

/** `vinyasa start`: serves until SIGINT or SIGTERM, reloads on SIGHUP. */
export async function startCommand(flags: StartFlags, context: CommandContext): Promise<void> {
  const loaded = await load(flags, context)
  const port = flags.port ?? loaded.config.server?.port ?? portOf(context.environment)
  refuseSecondGraphql()
  // A config that cannot be used is reported before the gateway is loaded.
  const { runGateway } = await import('./run-gateway.ts')
  await runGateway(loaded, () => load(flags, context), { ...flags, port }, context)
}

/** Platforms say there which port they send requests to. `HOST` says nothing: shells set it to the machine's name. */
function portOf({ PORT: text }: CommandContext['environment']): number | undefined {
  if (text === undefined || text === '') return undefined
  const port = toPort(text)
  if (port === undefined)
    throw new ConfigError(
      'PORT: the environment variable is not a valid port; expected a whole number from 0 to 65535',
    )
  return port
}
