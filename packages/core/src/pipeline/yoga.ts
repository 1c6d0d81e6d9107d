import { type DocumentNode, GraphQLError, type GraphQLSchema } from 'graphql'
import { createGraphQLError, type FetchAPI } from 'graphql-yoga'
import { isPromise, type MaybePromise } from '../index.ts'

/** Hook of a plugin. */
export type Hook = (payload: object) => MaybePromise<unknown>

/** Handles the parameters of one operation. `onParams` receives it from Yoga. */
export type ParamsHandler = (payload: {
  readonly request: Request
  readonly params: unknown
  readonly context: Record<string, unknown>
}) => MaybePromise<unknown>

/** Envelop's functions for one operation. */
export interface Enveloped {
  readonly schema: GraphQLSchema
  parse(query: string): DocumentNode
  validate(schema: GraphQLSchema, document: DocumentNode): readonly unknown[]
  contextFactory(): MaybePromise<unknown>
  execute(args: object): MaybePromise<unknown>
  subscribe(args: object): MaybePromise<unknown>
}

export interface MaskedErrors {
  readonly errorMessage: string
  readonly isDev?: boolean
  maskError(error: unknown, message: string, isDev?: boolean): Error
}

export interface Logger {
  debug(...args: unknown[]): void
  error(...args: unknown[]): void
}

/** Part of a Yoga server that the pipeline uses. */
export interface Yoga {
  readonly plugins: readonly unknown[]
  readonly logger: Logger
  readonly maskedErrors: MaskedErrors | undefined
  getEnveloped(context: Record<string, unknown>): Enveloped
}

/** Reads the properties from a server of Yoga 5. Only `getEnveloped` and `logger` are public in its types. */
export function readYoga(server: object): Yoga {
  const read = (name: string): unknown => Reflect.get(server, name)
  return {
    plugins: read('plugins') as readonly unknown[],
    logger: read('logger') as Logger,
    maskedErrors: (read('maskedErrorsOpts') ?? undefined) as MaskedErrors | undefined,
    getEnveloped: read('getEnveloped') as Yoga['getEnveloped'],
  }
}

type Masking = Pick<Yoga, 'maskedErrors' | 'logger'>

/** Converts a thrown value to the errors of a result. Errors are masked as the server is configured, like in Yoga. */
export function toErrors(thrown: unknown, masking: Masking): GraphQLError[] {
  const { maskedErrors, logger } = masking
  if (hasErrors(thrown)) {
    return [...new Set([...thrown.errors].flatMap((error) => toErrors(error, masking)))]
  }
  if (isAbort(thrown)) {
    logger.debug('Request aborted')
    return []
  }
  if (maskedErrors) {
    const masked = maskedErrors.maskError(thrown, maskedErrors.errorMessage, maskedErrors.isDev)
    if (masked !== thrown) logger.error(thrown)
    return [toGraphQLError(masked)]
  }
  if (thrown instanceof Error) return [toGraphQLError(thrown)]
  if (typeof thrown === 'string' || hasText(thrown)) {
    const extensions = { code: 'INTERNAL_SERVER_ERROR', unexpected: true }
    return [createGraphQLError(String(thrown), { extensions })]
  }
  logger.error(thrown)
  return [createGraphQLError('Unexpected error.', { extensions: { unexpected: true } })]
}

function toGraphQLError(error: Error): GraphQLError {
  if (error instanceof GraphQLError) return error
  return createGraphQLError(error.message, { originalError: error })
}

function hasErrors(value: unknown): value is { readonly errors: Iterable<unknown> } {
  return value !== null && typeof value === 'object' && 'errors' in value
}

function hasText(value: unknown): boolean {
  return value != null && typeof (value as { toString?: unknown }).toString === 'function'
}

function isAbort(value: unknown): boolean {
  return value instanceof DOMException && (value.name === 'AbortError' || value.name === 'TimeoutError')
}

/** Calls hooks in order until all have run or a hook ends the request. */
export function runHooks<Payload extends object>(
  hooks: readonly ((payload: Payload) => unknown)[],
  payload: Payload,
  onReturn?: (returned: unknown) => void,
  hasEnded?: () => boolean,
): MaybePromise<void> {
  for (let index = 0; index < hooks.length; index++) {
    const returned = hooks[index]?.(payload)
    if (isPromise(returned)) return goOn(index, returned)
    onReturn?.(returned)
    if (hasEnded?.()) return
  }

  async function goOn(index: number, first: PromiseLike<unknown>): Promise<void> {
    const returned = await first
    onReturn?.(returned)
    if (!hasEnded?.()) await runHooks(hooks.slice(index + 1), payload, onReturn, hasEnded)
  }
}

/** Returns a 304 response with the headers of a 200 response, except the `content-*` headers. */
export function notModified(response: Response, fetchAPI: FetchAPI): Response {
  const headers = new fetchAPI.Headers()
  response.headers.forEach((value, name) => {
    if (!name.startsWith('content-')) headers.append(name, value)
  })
  return new fetchAPI.Response(null, { status: 304, headers })
}
