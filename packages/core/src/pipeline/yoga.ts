import type { DocumentNode, GraphQLSchema } from 'graphql'
import type { MaybePromise } from '../index.ts'

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
