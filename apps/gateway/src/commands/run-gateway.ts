import { shareAmongReloads } from '../observability/metrics/shared-metrics.ts'
import { once } from 'node:events'
import { createUndeliveredInvalidations } from '@vinyasa/response-cache'
import type { CommandContext, StartFlags } from './context.ts'
import type { LoadedConfig } from '../config/file/load-config.ts'
import { openGateway } from './load.ts'
import { createLogDestination } from '../logging/log-destination.ts'
import { createLogger } from '../logging/logger.ts'
import { createMemoryBus } from '../bus/open-bus.ts'
import { logSettings, serverSettings } from '../presets.ts'
import { serve, type GatewayServer } from '../server.ts'
import { createReloads, reloadFailure, type ReloadFailure, type ReloadPart } from '../workers/reloads.ts'
import type { Watching } from './watch.ts'
import { ConfigError, messageOf } from '../errors.ts'
import type { CreateGatewayOptions, Gateway } from '../gateway.ts'
import { documentFiles } from '../access/access.ts'
import { filesOf } from '../sources/open-sources.ts'

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
  const part = createReloadPart(server, load, shared, (read) => watching?.add(read))
  const reloads =
    context.joinReloads?.(part) ?? createReloads({ parts: () => [part], onFailure: reloadFailure(logger) })
  const onReload = (): void => reloads.request()
  if (flags.watch) {
    const { watchFiles } = await import('./watch.ts')
    watching = await watchFiles([...filesRead(loaded), ...gateway.files], onReload)
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

/**
 * Returns the files of a config and those that it names, which are watched even while they cannot be read.
 */
function filesRead({ config, baseDirectory, files }: LoadedConfig): readonly string[] {
  return [...files, ...filesOf(config, baseDirectory), ...documentFiles(config, baseDirectory)]
}

/** Creates the part of reloads that runs in this process. `onRead` gets the files that an attempt reads, even if it fails. */
function createReloadPart(
  server: GatewayServer,
  load: () => Promise<LoadedConfig>,
  shared: Omit<CreateGatewayOptions, 'baseDirectory'>,
  onRead: (files: readonly string[]) => void,
): ReloadPart {
  const { logger } = shared
  /** Number of the current attempt. Nothing is kept of one that was given up while it was under way. */
  let attempt = 0
  let prepared: Gateway | undefined

  function close(gateway: Gateway): void {
    gateway
      .close()
      .catch((error: unknown) =>
        logger.error(error, 'reload: the gateway with an unused config failed to close'),
      )
  }

  function give(): Gateway | undefined {
    const gateway = prepared
    prepared = undefined
    return gateway
  }

  function abandon(): void {
    attempt++
    const unused = give()
    if (unused) close(unused)
  }

  async function prepare(): Promise<ReloadFailure | undefined> {
    abandon()
    const own = attempt
    let isLoaded = false
    try {
      const loaded = await load()
      isLoaded = true
      onRead(filesRead(loaded))
      const next = await openGateway(loaded, shared)
      onRead(next.files)
      if (own === attempt) prepared = next
      else close(next)
      return undefined
    } catch (error) {
      if (error instanceof ConfigError) onRead(error.files)
      else logger.debug(error)
      return { reason: messageOf(error), isFinal: !isLoaded }
    }
  }

  return {
    prepare,
    commit() {
      const next = give()
      if (!next) return
      // Long streams may keep the old gateway open for a while; the next reload does not wait for them.
      server
        .replace(next)
        .catch((error: unknown) =>
          logger.error(error, 'reload: the gateway with the previous config failed to close'),
        )
      logger.info('reloaded')
    },
    abandon,
  }
}
