import type { AsyncLocalStorage } from 'node:async_hooks'
import { useMaskedErrors } from '@envelop/core'
import { MapperKind, mapSchema } from '@graphql-tools/utils'
import {
  defaultFieldResolver,
  GraphQLError,
  isObjectType,
  parse,
  type ExecutionArgs,
  type GraphQLSchema,
} from 'graphql'
import {
  handleStreamOrSingleExecutionResult,
  useErrorHandler,
  useExtendContext,
  useLogger,
  usePayloadFormatter,
  type Plugin,
} from 'graphql-yoga'

/** What a plugin saw, and what the source's own hooks saw while it ran. */
export interface Seen {
  readonly log: string[]
  /** The span that is active when a backend is called. */
  readonly span: AsyncLocalStorage<string>
}

/** A plugin as people write them. */
export interface UserPlugin {
  readonly what: string
  plugin(seen: Seen): Plugin
  /** Part of an answer, or of what was seen. */
  readonly shows: string
  /**
   * Which operations still have plans: those where it stands on either side of the source (default), those where it
   * stands after the source (before it, it executes by itself), or none (it has resolvers of its own).
   */
  readonly plans?: 'after' | 'never'
  /** False for one that brings a result of its own. Default: true. */
  readonly executes?: boolean
}

const OTHER = parse('{ other: user(id: "2") { id } }')

function onDone(change: (payload: any, seen: Seen) => unknown): UserPlugin['plugin'] {
  return (seen) => ({
    onExecute: () => ({ onExecuteDone: (payload) => change(payload, seen) as undefined }),
  })
}

const messages = (errors: readonly GraphQLError[] | undefined): string[] =>
  (errors ?? []).map(({ message, path }) => `${message} at ${path?.join('.')}`)

export const USER_PLUGINS: readonly UserPlugin[] = [
  {
    what: 'onExecuteDone reads the data',
    plugin: onDone(({ result }, { log }) => void log.push(JSON.stringify(result.data))),
    shows: 'Ada',
  },
  {
    what: 'onExecuteDone sets another result',
    plugin: onDone(({ result, setResult }) =>
      setResult({ ...result, extensions: { seen: JSON.stringify(result.data) } }),
    ),
    shows: 'seen',
  },
  {
    what: 'onExecuteDone takes its time and sets a result without data of its own',
    plugin: onDone(async ({ result, setResult }) => {
      await new Promise((resolve) => void setImmediate(resolve))
      setResult({ errors: [new GraphQLError(`late, after ${Object.keys(result.data)}`)] })
    }),
    shows: 'late, after',
  },
  {
    what: 'onExecuteDone changes the data in place',
    plugin: onDone(({ result }) => void (result.data.added = [1])),
    shows: '"added":[1]',
  },
  {
    what: 'onExecuteDone puts other data in place',
    plugin: onDone(({ result }) => void (result.data = { was: result.data })),
    shows: '"was"',
  },
  {
    what: 'onExecuteDone puts data in place without a look',
    plugin: onDone(({ result }) => void (result.data = { all: 'gone' })),
    shows: 'gone',
  },
  {
    what: 'onExecuteDone adds an error',
    plugin: onDone(
      ({ result }) => void (result.errors = [...(result.errors ?? []), new GraphQLError('late')]),
    ),
    shows: '"late"',
  },
  {
    what: 'onExecutionResult adds extensions',
    plugin: () => ({
      onExecutionResult: ({ result }) => void Object.assign(result as object, { extensions: { ms: 1 } }),
    }),
    shows: '"ms":1',
  },
  {
    what: 'onResultProcess sets another result',
    plugin: () => ({
      onResultProcess: ({ result, setResult }) => setResult({ data: { was: (result as any).data } }),
    }),
    shows: '"was"',
  },
  {
    what: 'headers and a status in the extensions of a result',
    plugin: onDone(
      ({ result }) => void (result.extensions = { http: { status: 203, headers: { 'x-cost': '7' } } }),
    ),
    shows: 'x-cost: 7',
  },
  {
    what: 'onResponse sets headers',
    plugin: () => ({ onResponse: ({ response }) => response.headers.set('x-cost', '8') }),
    shows: 'x-cost: 8',
  },
  {
    what: 'setResultAndStopExecution',
    plugin: () => ({
      onExecute: ({ setResultAndStopExecution }) => setResultAndStopExecution({ data: { stopped: 1 } }),
    }),
    shows: 'stopped',
    plans: 'after',
    executes: false,
  },
  {
    what: 'an execute of its own around the one it found',
    plugin: ({ log }) => ({
      onExecute: ({ executeFn, setExecuteFn }) =>
        setExecuteFn(async (args: ExecutionArgs) => {
          const result: any = await executeFn(args)
          log.push(`executed ${Object.keys(result.data)}`)
          return { ...result, extensions: { wrapped: true } }
        }),
    }),
    shows: '"wrapped":true',
    plans: 'after',
  },
  {
    what: 'an execute of its own that calls none',
    plugin: () => ({ onExecute: ({ setExecuteFn }) => setExecuteFn(() => ({ data: { own: 1 } })) }),
    shows: '"own":1',
    plans: 'after',
    executes: false,
  },
  {
    what: 'an execute of its own that gives another document',
    plugin: () => ({
      onExecute: ({ executeFn, setExecuteFn }) =>
        setExecuteFn((args: ExecutionArgs) => executeFn({ ...args, document: OTHER })),
    }),
    shows: '"other":{"id":"2"}',
    plans: 'after',
  },
  {
    what: 'another document in the arguments',
    plugin: () => ({ onExecute: ({ args }) => void (args.document = OTHER) }),
    shows: '"other":{"id":"2"}',
  },
  {
    what: 'useErrorHandler',
    plugin: ({ log }) =>
      useErrorHandler(({ errors, phase }) => void log.push(phase, ...messages(errors as any))) as Plugin,
    shows: 'execution',
  },
  {
    what: 'useMaskedErrors',
    plugin: () => useMaskedErrors({ maskError: () => new GraphQLError('masked') }) as Plugin,
    shows: '"masked"',
  },
  { what: 'useLogger', plugin: loggerPlugin, shows: 'execute-end {"data"' },
  {
    what: 'usePayloadFormatter',
    plugin: () =>
      usePayloadFormatter((result: any) => ({
        ...result,
        data: { ...result.data, formatted: true },
      })) as Plugin,
    shows: '"formatted":true',
  },
  {
    what: 'useExtendContext',
    plugin: () => useExtendContext(() => ({ tenant: 'acme' })) as Plugin,
    shows: 'called for acme',
  },
  {
    what: "Sentry's way: a span, the result in it, an id on each error",
    plugin: sentryLike,
    shows: 'span {',
  },
  {
    what: "OpenTelemetry's way: a span around the execution",
    plugin: ({ log, span }) => ({
      onExecute: ({ args, executeFn, setExecuteFn }) => {
        setExecuteFn((given: ExecutionArgs) => span.run('execute', () => executeFn(given)))
        return {
          onExecuteDone: ({ result }) =>
            void log.push(`span ended: ${args.document.kind}, ${messages((result as any).errors)}`),
        }
      },
    }),
    shows: 'within execute',
    plans: 'after',
  },
  {
    what: "OpenTelemetry's way: a span around each resolver",
    plugin: ({ log }) =>
      onNewSchema((schema) => {
        for (const type of Object.values(schema.getTypeMap())) {
          if (!isObjectType(type) || type.name.startsWith('__')) continue
          for (const field of Object.values(type.getFields())) {
            const { name, resolve = defaultFieldResolver } = field
            field.resolve = async (...args) => {
              try {
                return await resolve(...args)
              } finally {
                log.push(`resolved ${type.name}.${name}`)
              }
            }
          }
        }
        return undefined
      }),
    shows: 'resolved Query.',
    plans: 'never',
  },
  {
    what: 'a schema transform with resolvers of its own',
    plugin: () =>
      onNewSchema((schema) =>
        mapSchema(schema, {
          [MapperKind.OBJECT_FIELD](field, name) {
            if (name !== 'id' && name !== 'userId') return undefined
            const { resolve = defaultFieldResolver } = field
            return { ...field, resolve: async (...args) => `#${String(await resolve(...args))}` }
          },
        }),
      ),
    shows: '#1"',
    plans: 'never',
  },
  {
    what: 'a schema transform that leaves the resolvers as they are',
    plugin: () => onNewSchema((schema) => mapSchema(schema, {})),
    shows: '"Ada"',
  },
]

/** Changes every schema once, in place or into another. */
function onNewSchema(change: (schema: GraphQLSchema) => GraphQLSchema | undefined): Plugin {
  const known = new WeakSet<GraphQLSchema>()
  return {
    onSchemaChange({ schema, replaceSchema }) {
      if (known.has(schema)) return
      const changed = change(schema)
      known.add(changed ?? schema)
      if (changed) replaceSchema(changed)
    },
  }
}

function loggerPlugin({ log }: Seen): Plugin {
  return useLogger({
    logFn: (event: string, { result }: { result?: any }) =>
      void log.push(`${event} ${JSON.stringify(result && { data: result.data, errors: result.errors })}`),
  }) as Plugin
}

/** `@envelop/sentry`: the whole result goes into a span, and errors go out with the id of their report. */
function sentryLike({ log }: Seen): Plugin {
  return {
    onExecute({ args }) {
      log.push(`span started: ${args.document.definitions.length}`)
      return {
        onExecuteDone: (payload) =>
          handleStreamOrSingleExecutionResult(payload as any, ({ result, setResult }: any) => {
            log.push(`span ${JSON.stringify(result)}`)
            if (!result.errors) return
            const errors = result.errors.map(
              (error: GraphQLError, index: number) =>
                new GraphQLError(error.message, {
                  ...error,
                  extensions: { ...error.extensions, sentryEventId: String(index) },
                }),
            )
            setResult({ ...result, errors })
          }),
      }
    },
  }
}
