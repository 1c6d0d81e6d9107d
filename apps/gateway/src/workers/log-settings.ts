import type { LogConfig } from '../logging/log-types.ts'

/** How a gateway logs, as its config says: the first process of several reads none. */
export type LogSettings = Pick<LogConfig, 'level' | 'format'>

export interface LogMessage {
  readonly vinyasa: 'log'
  readonly settings: LogSettings
}
