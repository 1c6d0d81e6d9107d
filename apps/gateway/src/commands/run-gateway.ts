import { createUndeliveredInvalidations } from '@vinyasa/response-cache'
import type { CommandContext, StartFlags } from './context.ts'
import { documentFiles } from '../access/access.ts'
import type { GatewayConfig } from '../config/types.ts'
import { ConfigError, messageOf } from '../errors.ts'
import { createGateway, type CreateGatewayOptions, type Gateway } from '../gateway.ts'
import { createLogDestination } from '../logging/log-destination.ts'
import { createLogger } from '../logging/logger.ts'
import { createMemoryBus } from '../bus/open-bus.ts'
import { logSettings, serverSettings } from '../presets.ts'
import { serve, type GatewayServer } from '../server.ts'
import { filesOf } from '../sources/open-sources.ts'

/** A config file as it was read. */
export interface Loaded {
  readonly config: GatewayConfig
  /** Paths in the config are relative to it. */
  readonly baseDirectory: string
  /** All that it was read from. */
  readonly files: readonly string[]
}

/** Serves until the context's shutdown; each reload asks `load` for the config anew. */
export async function runGateway(
  { config, baseDirectory, files }: Loaded,
  load: () => Promise<Loaded>,
  flags: StartFlags,
  context: CommandContext,
): Promise<void> {
  const destination = createLogDestination({
    maxWaitingBytes: config.log?.maxWaitingBytes,
    onDropped: (lines) => logger.warn({ lines }, 'log lines were lost: they could not be written'),
  })
  const logger = await createLogger({ ...logSettings(config), destination })
  context.tellLogSettings?.(logSettings(config))
  const onExit = (): void => destination.flushSync()
  process.on('exit', onExit)
  const local = createMemoryBus(logger)
  // For all the gateways that reloads make.
  const shared = {
    logger,
    bus: context.shareBus?.(local, (error) => logger.error(error, 'workers')) ?? local,
    undelivered: createUndeliveredInvalidations(),
    lostLogLines: () => destination.dropped,
  }
  const gateway = await createGateway(config, { ...shared, baseDirectory })
  const server = await serve(gateway, {
    ...serverSettings(config),
    port: flags.port,
    host: flags.host ?? config.server?.host,
    logger,
  }).catch(async (error: unknown) => {
    await gateway.close()
    throw error
  })

  // Executors forget the promises of a list when a later item fails at once: that is no reason to end for everybody.
  const onRejection = (reason: unknown): void => logger.error(reason, 'unhandled rejection')
  process.on('unhandledRejection', onRejection)
  const onReload = oneAtATime(async () => {
    const read = await reload(server, load, shared)
    watching?.add(read)
  })
  const watching = flags.watch
    ? await (
        await import('./watch.ts')
      ).watchFiles({
        paths: [...filesRead({ config, baseDirectory, files }), ...gateway.files],
        onChange: onReload,
      })
    : undefined
  logger.info({ url: `${server.url}${gateway.endpoint}` }, 'gateway ready')
  context.reload.addEventListener('reload', onReload)
  await aborted(context.shutdown)
  context.reload.removeEventListener('reload', onReload)
  await watching?.stop()
  logger.info('stopping: finishing requests in flight')
  await server.close({ graceMs: config.server?.graceMs })
  process.off('unhandledRejection', onRejection)
  logger.info('stopped')
  await destination.flush()
  process.off('exit', onExit)
}

/** Resolves to the files that were read. */
async function reload(
  server: GatewayServer,
  load: () => Promise<Loaded>,
  shared: Omit<CreateGatewayOptions, 'baseDirectory'>,
): Promise<readonly string[]> {
  const { logger } = shared
  let next: Gateway
  let read: readonly string[] = []
  try {
    const loaded = await load()
    read = filesRead(loaded)
    next = await createGateway(loaded.config, { ...shared, baseDirectory: loaded.baseDirectory })
  } catch (error) {
    logger.error({ reason: messageOf(error) }, 'reload failed; the previous schema stays in place')
    if (!(error instanceof ConfigError)) logger.debug(error)
    return error instanceof ConfigError ? [...read, ...error.files] : read
  }
  // Long streams may keep the old gateway open for a while; the next reload does not wait for them.
  server.replace(next).catch((error: unknown) => logger.error(error, 'the replaced gateway did not close'))
  logger.info('reloaded')
  return [...read, ...next.files]
}

/** What a config names is watched even while it cannot be read. */
function filesRead({ config, baseDirectory, files }: Loaded): readonly string[] {
  return [...files, ...filesOf(config, baseDirectory), ...documentFiles(config, baseDirectory)]
}

/** Runs the task for a burst of calls once now and, if more came meanwhile, once after. */
function oneAtATime(task: () => Promise<void>): () => void {
  let running = false
  let again = false
  const run = async (): Promise<void> => {
    running = true
    do {
      again = false
      await task()
    } while (again)
    running = false
  }
  return () => {
    if (running) again = true
    else void run()
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
