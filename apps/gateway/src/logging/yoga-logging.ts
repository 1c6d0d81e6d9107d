import type { Logger } from './logger.ts'

type Level = 'debug' | 'info' | 'warn' | 'error'

/** The gateway's log as Yoga writes to it. */
export function yogaLogging(logger: Logger): Record<Level, (...args: unknown[]) => void> {
  const write =
    (level: Level) =>
    (...args: unknown[]): void => {
      const [first, ...rest] = args
      logger[level](first, ...rest.map(String))
    }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
