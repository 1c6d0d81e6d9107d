import { shareAmongReloads } from '../observability/metrics/shared-metrics.ts'
import { once } from 'node:events'
import { createUndeliveredInvalidations } from '@vinyasa/response-cache'
import type { CommandContext, StartFlags } from './context.ts'
import type { LoadedConfig } from '../config/file/load-config.ts'
import { filesRead } from './files-read.ts'
import { openGateway } from './load.ts'
import { createLogDestination } from '../logging/log-destination.ts'
import { createLogger } from '../logging/logger.ts'
import { createMemoryBus } from '../bus/open-bus.ts'
import { logSettings, serverSettings } from '../presets.ts'
import { serve } from '../server.ts'
import { createReloads, reloadFailure } from '../workers/reloads.ts'
import { createReloadPart } from './reload-part.ts'
import type { Watching } from './watch.ts'

/** Serves until the context's shutdown; each reload asks `load` for the config anew. */
export async function runGateway(
  loaded: LoadedConfig,
  load: () => Promise<LoadedConfig>,
  flags: StartFlags,
  context: CommandContext,
): Promise<void> {
  const { config } = loaded
  const destination = createLogDestination({
    onDropped: (lines) =>
      logger.warn({ lines }, 'log lines were lost because the log output was too slow or failed'),
  })
  const logger = await createLogger({ ...logSettings(config), destination })
  context.tellLogSettings?.(logSettings(config))
  const onExit = (): void => destination.flushSync()
  process.on('exit', onExit)
  const local = createMemoryBus(logger)
  const { shareMetrics = shareAmongReloads } = context
  // For all the gateways that reloads make.
  const shared = {
    logger,
    bus: context.shareBus?.(local, (error) => logger.error(error, 'workers')) ?? local,
    undelivered: createUndeliveredInvalidations(),
    reachedBrokers: context.reachedBrokers ?? new Set<string>(),
    lostLogLines: countNew(() => destination.dropped),
    shareMetrics: shareMetrics((error) => logger.error(error, 'metrics')),
    onLargeAnswers: context.onLargeAnswers,
  }
  const gateway = await openGateway(loaded, shared)
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
  let watching: Watching | undefined
  const part = createReloadPart({ server, load, shared, onRead: (read) => watching?.add(read) })
  const reloads =
    context.joinReloads?.(part) ?? createReloads({ parts: () => [part], onFailure: reloadFailure(logger) })
  const onReload = (): void => reloads.request()
  if (flags.watch) {
    const { watchFiles } = await import('./watch.ts')
    watching = await watchFiles({
      paths: [...filesRead(loaded), ...gateway.files],
      onChange: onReload,
    })
  }
  context.onServing?.()
  logger.info({ url: `${server.url}${gateway.endpoint}` }, 'gateway ready')
  context.reload.addEventListener('reload', onReload)
  if (!context.shutdown.aborted) await once(context.shutdown, 'abort')
  context.reload.removeEventListener('reload', onReload)
  reloads.close()
  part.abandon()
  await watching?.stop()
  logger.info('stopping: finishing requests in flight')
  await server.close({ graceMs: config.server?.graceMs })
  process.off('unhandledRejection', onRejection)
  logger.info('stopped')
  await destination.flush()
  process.off('exit', onExit)
}

/** Gives what a number that grows has grown by since it was asked last. */
function countNew(read: () => number): () => number {
  let known = 0
  return () => {
    const before = known
    known = read()
    return known - before
  }
}
