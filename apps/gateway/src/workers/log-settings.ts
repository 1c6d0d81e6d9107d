import type { LoggerOptions } from '../logging/logger.ts'
import { isMarked } from './peer.ts'

/** How a gateway logs, as its config says: the first process of several reads none. */
export type LogSettings = Pick<LoggerOptions, 'level' | 'format'>

interface LogMessage {
  readonly vinyasa: 'log'
  readonly settings: LogSettings
}

/** In a worker: what to send to the first process. */
export function logMessage({ level, format }: LogSettings): LogMessage {
  return { vinyasa: 'log', settings: { level, format } }
}

export function isLogMessage(message: unknown): message is LogMessage {
  return isMarked<LogMessage>(message, 'log')
}
