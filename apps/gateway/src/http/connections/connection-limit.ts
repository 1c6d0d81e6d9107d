import type { Server } from 'node:http'
import type { Logger } from '../../logging/logger.ts'

/** Refused connections are logged together, once in so long. */
const REPORT_MS = 1_000

/** Closes connections beyond so many, unheard; 0: no limit. WebSockets and event streams count as long as they are open. */
export function limitConnections(server: Server, maxConnections: number, logger: Logger | undefined): void {
  if (maxConnections === 0) return
  server.maxConnections = maxConnections
  let refused = 0
  const report = (): void => {
    logger?.warn({ refused, maxConnections }, 'connections were refused: server.maxConnections are open')
    refused = 0
  }
  server.on('drop', () => {
    if (refused === 0) setTimeout(report, REPORT_MS).unref()
    refused++
  })
}
