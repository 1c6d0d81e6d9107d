import { Writable } from 'node:stream'
import { pino, type DestinationStream, type Logger } from 'pino'
import { rememberDestination } from './line-writer.ts'
import type { LogConfig } from './log-types.ts'

export type { Logger }

/** Without a format lines are JSON. */
export interface LoggerOptions extends LogConfig {
  /** The destination that lines go to. Default: standard output. */
  readonly destination?: DestinationStream | undefined
}

const SECRET_NAMES = [
  'authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'connectionParams',
  'password',
  'token',
]

/** The gateway's logger: pino, with secrets redacted wherever they are logged under their usual names. */
export async function createLogger(options: LoggerOptions = {}): Promise<Logger> {
  const { level = 'info', format = 'json', redact = [], destination } = options
  const names = [...SECRET_NAMES, ...redact]
  const settings = {
    level,
    redact: {
      paths: names.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]),
      censor: '[redacted]',
    },
  }
  if (format === 'pretty') {
    const { PinoPretty } = await import('pino-pretty')
    return pino(
      settings,
      PinoPretty({
        colorize: false,
        ignore: 'pid,hostname',
        translateTime: 'HH:MM:ss',
        singleLine: true,
        ...(destination && { destination: streamTo(destination) }),
      }),
    )
  }
  if (!destination) return pino(settings)
  const logger = pino(settings, destination)
  rememberDestination(logger, destination)
  return logger
}

/** pino-pretty writes to streams of Node only. */
function streamTo(destination: DestinationStream): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      destination.write(String(chunk))
      done()
    },
  })
}
