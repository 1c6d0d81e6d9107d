import type { Logger } from './logger.ts'

type Level = 'debug' | 'info' | 'warn' | 'error'

/** The gateway's log as Yoga writes to it. */
export function yogaLogging(logger: Logger): Record<Level, (...args: unknown[]) => void> {
  const write =
    (level: Level) =>
    (...args: unknown[]): void => {
      const [first, ...rest] = args
      logger[hasLeft(first) ? 'debug' : level](first, ...rest.map(String))
    }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

/**
 * Whether something, such as reading a file of a request, broke off because its client left: that is nobody's
 * fault.
 */
function hasLeft(error: unknown): boolean {
  const { originalError = error } = Object(error) as { readonly originalError?: unknown }
  const { name, message } = Object(originalError) as Partial<Error>
  return name === 'AbortError' && message === 'The client left'
}
