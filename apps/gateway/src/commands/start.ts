import type { CommandContext, StartFlags } from '../cli.ts'
import { loadConfig } from '../config/load-config.ts'
import type { GatewayConfig } from '../config/types.ts'
import { ConfigError, messageOf } from '../errors.ts'
import { createGateway, type Gateway } from '../gateway.ts'
import { createLogger, type Logger } from '../logger.ts'
import { logSettings, withPreset } from '../presets.ts'
import { serve, type GatewayServer } from '../server.ts'

/** `vinyasa start`: serves until SIGINT or SIGTERM, reloads on SIGHUP. */
export async function startCommand(flags: StartFlags, context: CommandContext): Promise<void> {
  const load = async (): Promise<{ config: GatewayConfig; baseDirectory: string }> => {
    const { config, baseDirectory } = await loadConfig({
      file: flags.config,
      directory: context.directory,
      environment: context.environment,
    })
    return { config: withPreset(config, flags.preset), baseDirectory }
  }
  const { config, baseDirectory } = await load()
  const logger = createLogger(logSettings(config))
  const gateway = await createGateway(config, { baseDirectory, logger })
  const server = await serve(gateway, {
    ...config.server,
    port: flags.port ?? config.server?.port,
    host: flags.host ?? config.server?.host,
  }).catch(async (error: unknown) => {
    await gateway.close()
    throw error
  })
  logger.info({ url: `${server.url}${gateway.endpoint}` }, 'gateway ready')

  const onReload = (): void => void reload(server, load, logger)
  context.reload.addEventListener('reload', onReload)
  await aborted(context.shutdown)
  context.reload.removeEventListener('reload', onReload)
  logger.info('stopping: finishing requests in flight')
  await server.close({ graceMs: config.server?.graceMs })
  logger.info('stopped')
}

async function reload(
  server: GatewayServer,
  load: () => Promise<{ config: GatewayConfig; baseDirectory: string }>,
  logger: Logger,
): Promise<void> {
  let next: Gateway
  try {
    const { config, baseDirectory } = await load()
    next = await createGateway(config, { baseDirectory, logger })
  } catch (error) {
    logger.error({ reason: messageOf(error) }, 'reload failed; the previous schema stays in place')
    if (!(error instanceof ConfigError)) logger.debug(error)
    return
  }
  await server.replace(next)
  logger.info('reloaded')
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
