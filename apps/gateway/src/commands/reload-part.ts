import { ConfigError, messageOf } from '../errors.ts'
import type { CreateGatewayOptions, Gateway } from '../gateway.ts'
import type { GatewayServer } from '../server.ts'
import type { ReloadFailure, ReloadPart } from '../workers/reloads.ts'
import type { LoadedConfig } from '../config/file/load-config.ts'
import { filesRead } from './files-read.ts'
import { openGateway } from './load.ts'

export interface ReloadPartOptions {
  readonly server: GatewayServer
  readonly load: () => Promise<LoadedConfig>
  readonly shared: Omit<CreateGatewayOptions, 'baseDirectory'>
  /** Told of what an attempt read, or would have read. */
  readonly onRead: (files: readonly string[]) => void
}

/** Creates the part that this process has in reloads. */
export function createReloadPart({ server, load, shared, onRead }: ReloadPartOptions): ReloadPart {
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
