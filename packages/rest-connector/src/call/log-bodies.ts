import { mediaTypeOf } from '../templates/body-template.ts'
import { RestConfigError } from '../errors.ts'

/** The target of the connector's logs; `console` is one. */
export interface Logger {
  info(message: string, details: unknown): void
}

export interface LogBodiesOptions {
  /** Names of JSON properties and form fields to redact, in addition to common secrets. Case-insensitive. */
  readonly redact?: readonly string[] | undefined
  /** Allows logging if `NODE_ENV` is `production`. Default false. */
  readonly force?: boolean | undefined
}

export type LogBody = (event: string, facts: object, contentType: string | undefined, body: string) => void

const MAX_LOGGED = 4096
const SECRETS = [
  'password',
  'passwd',
  'secret',
  'client_secret',
  'clientsecret',
  'token',
  'access_token',
  'accesstoken',
  'refresh_token',
  'refreshtoken',
  'id_token',
  'idtoken',
  'authorization',
  'cookie',
  'set-cookie',
  'api_key',
  'apikey',
  'x-api-key',
]

/** Creates a function that logs bodies with redacted secrets. It never logs headers. */
export function createBodyLog(
  options: boolean | LogBodiesOptions | undefined,
  logger: Logger,
  env: Readonly<Record<string, string | undefined>>,
): LogBody | undefined {
  if (!options) return undefined
  const { redact = [], force = false } = options === true ? {} : options
  if (env['NODE_ENV'] === 'production' && !force)
    throw new RestConfigError(
      'logBodies can write personal data to the log and is refused if NODE_ENV is "production"; set logBodies: { force: true } to allow it',
    )
  const names = new Set([...SECRETS, ...redact].map((name) => name.toLowerCase()))
  return (event, facts, contentType, body) => {
    logger.info(event, { ...facts, body: redacted(body, contentType, names) })
  }
}

function redacted(body: string, contentType: string | undefined, names: ReadonlySet<string>): string {
  const mediaType = mediaTypeOf(contentType ?? 'application/json')
  if (mediaType === 'application/x-www-form-urlencoded') return cut(redactedForm(body, names))
  try {
    const text = JSON.stringify(JSON.parse(body), (key, value: unknown) =>
      names.has(key.toLowerCase()) ? '[redacted]' : value,
    )
    return cut(text)
  } catch {
    // An unparsable body cannot be redacted by name.
    return mediaType.startsWith('text/') ? cut(body) : `[${Buffer.byteLength(body)} bytes of ${mediaType}]`
  }
}

function redactedForm(body: string, names: ReadonlySet<string>): string {
  const form = new URLSearchParams(body)
  for (const name of new Set(form.keys())) if (names.has(name.toLowerCase())) form.set(name, '[redacted]')
  return form.toString()
}

function cut(text: string): string {
  return text.length <= MAX_LOGGED ? text : `${text.slice(0, MAX_LOGGED)}… (${text.length} characters)`
}
