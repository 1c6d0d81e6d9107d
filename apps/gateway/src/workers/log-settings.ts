import type { LoggerOptions } from '../logging/logger.ts'

/** How a gateway logs, as its config says: the first process of several reads none. */
export type LogSettings = Pick<LoggerOptions, 'level' | 'format'>

export interface LogMessage {
  readonly vinyasa: 'log'
  readonly settings: LogSettings
}
