import { parse } from 'graphql'
import { createSchema, createYoga, type Plugin, type YogaServerOptions } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { AnswerSize, chosenParser, parserHooks, yogasExecutor, yogasPlugins } from '../src/index.ts'

type Options = YogaServerOptions<Record<string, unknown>, Record<string, unknown>>

const schema = createSchema<Record<string, unknown>>({ typeDefs: 'type Query { hello: String }' })

/** All plugins of a server, Yoga's and those that it is given. */
function pluginsOf(options: Options): readonly unknown[] {
  let server: object = {}
  const probe: Plugin = { onYogaInit: ({ yoga }) => void (server = yoga) }
  createYoga({ schema, logging: false, ...options, plugins: [probe, ...(options.plugins ?? [])] })
  const all = Reflect.get(server, 'plugins') as readonly unknown[]
  return all.filter((one) => one !== probe)
}

/** Without those that an option turns off. */
const withHooks = (plugins: readonly unknown[]): unknown[] =>
  plugins.filter((plugin) => Object.keys(Object(plugin) as object).length > 0)

it('the executor is found, and executes', async () => {
  const execute = yogasExecutor(pluginsOf({}))
  const result = execute?.({ schema, document: parse('{ hello }'), rootValue: { hello: 'you' } })
  expect(await result).toEqual({ data: { hello: 'you' } })
})

it.each([
  ['no plugins', []],
  ['another first plugin', [{ onParse: () => {} }]],
  ['one that fails', [{ onExecute: ({ args }: { args: { document: object } }) => args.document }]],
])('with %s there is no executor of its own', (_, plugins) => {
  expect(yogasExecutor(plugins)).toBeUndefined()
})

const OFF = {
  schema: { schema: undefined },
  cors: { cors: false },
  graphiql: { graphiql: false },
  multipart: { multipart: false },
  bodyLimit: { maxRequestBodySize: false },
  documentCache: { parserAndValidationCache: false },
  maskedErrors: { maskedErrors: false },
} satisfies Record<string, Options>

const ON = {
  context: { context: {} },
  allowedHeaders: { allowedHeaders: { request: ['accept'], response: ['content-type'] } },
  promisedSchema: { schema: Promise.resolve(schema) },
  schemaByRequest: { schema: () => schema },
  batching: { batching: true },
} satisfies Record<string, Options>

const together = (rows: Record<string, Options>): Options => Object.assign({}, ...Object.values(rows))

const SERVERS: readonly (readonly [string, Options])[] = [
  ['nothing set', {}],
  ...Object.entries({ ...OFF, ...ON }),
  ['everything off', together(OFF)],
  ['everything on', together(ON)],
]

/** What users give that looks like Yoga's plugins, or comes to places of its own. */
function lookalikes(): { readonly given: Plugin[]; readonly added: readonly Plugin[] } {
  const hooks = [
    'onRequestParse',
    'onParse',
    'onValidate',
    'onParams',
    'onRequest',
    'onResultProcess',
  ] as const
  const behindIt: Plugin = { onParse: () => {} }
  const behindAll: Plugin[] = [{ onValidate: () => {}, onRequestParse: () => {} }, { onValidate: () => {} }]
  const given: Plugin[] = [
    ...hooks.map((name): Plugin => ({ [name]: () => {} })),
    { onParse: () => {}, onValidate: () => {} },
    { onResultProcess: () => {}, onSubscribe: () => {} },
    { onPluginInit: ({ addPlugin }) => void addPlugin(behindIt) },
    { onPluginInit: ({ plugins }) => void plugins.push(...behindAll) },
    { onExecute: () => {}, onPluginInit: () => {}, onSubscribe: () => {} },
    { onRequestParse: () => {} },
  ]
  return { given, added: [...given, behindIt, ...behindAll] }
}

describe("Yoga's plugins are told from those that a server is given", () => {
  it.each(SERVERS)('with %s', (_name, options) => {
    const alone = pluginsOf(options)
    const bare = withHooks(alone)
    expect(Object.values(yogasPlugins(alone))).toEqual(bare)

    const { given, added } = lookalikes()
    const all = pluginsOf({ ...options, plugins: given })
    const yogas = withHooks(all).filter((plugin) => !added.includes(plugin as Plugin))
    expect(Object.values(yogasPlugins(all))).toEqual(yogas)
    expect(yogas.length).toBe(bare.length)
  })

  it('where their hooks are other functions', () => {
    const rewrapped = pluginsOf({ plugins: lookalikes().given }).map((plugin) => {
      const hooks = Object.entries(Object(plugin) as Record<string, (payload: unknown) => unknown>)
      return Object.fromEntries(hooks.map(([name, hook]) => [name, (payload: unknown) => hook(payload)]))
    })
    const names = (plugins: readonly unknown[]): string[] => Object.keys(yogasPlugins(plugins))
    expect(names(rewrapped)).toEqual(names(pluginsOf({})))
    expect(yogasPlugins(rewrapped).bodyLimit).toBe(rewrapped.at(-13))
  })

  it('and are nobody where a plugin was put among them, or taken away', () => {
    const first: Plugin = { onParse: () => {} }
    const amongHead: Plugin = {
      onPluginInit: ({ plugins }) => void (plugins.includes(first) || plugins.splice(3, 0, first)),
    }
    const amongTail: Plugin = {
      onPluginInit: ({ plugins }) => void plugins.splice(plugins.length - 3, 0, first),
    }
    const shorter: Plugin = { onPluginInit: ({ plugins }) => void plugins.pop() }
    for (const plugin of [amongHead, amongTail, shorter])
      expect(yogasPlugins(pluginsOf({ plugins: [plugin] }))).toEqual({})
    for (const given of [[], [undefined, null, false, 'text'], Array.from({ length: 30 })])
      expect(yogasPlugins(given)).toEqual({})
  })
})

describe("Yoga's parsers", () => {
  const parsersOf = (options: Options = {}) => parserHooks(yogasPlugins(pluginsOf(options)))
  const chosen = (options: Options, contentType: string) =>
    chosenParser(parsersOf(options), 'POST', contentType)

  it('are chosen by method and content type', () => {
    expect(chosen({}, 'application/json')).toBeTypeOf('function')
    expect(chosen({}, 'application/json')).toBe(chosen({}, 'application/graphql+json; charset=utf-8'))
    expect(chosen({}, 'application/json')).not.toBe(chosen({}, 'application/graphql'))
    expect(chosenParser(parsersOf(), 'GET', '')).not.toBe(chosen({}, 'application/json'))
    expect(chosen({}, 'image/png')).toBeUndefined()
  })

  it('are not those of a plugin, nor of what is turned off', () => {
    const plugins: Plugin[] = [{ onRequestParse: ({ setRequestParser }) => setRequestParser(() => ({})) }]
    expect(chosen({ plugins }, 'application/json')).toBe(chosen({}, 'application/json'))
    expect(parsersOf({ multipart: false }).length).toBe(parsersOf().length - 1)
    expect(chosen({ multipart: false }, 'multipart/form-data')).toBeUndefined()
    expect(chosen({}, 'multipart/form-data')).toBeTypeOf('function')
  })

  it('are not known where a hook asks for more than the method and the content type', () => {
    const curious = ({ request }: { request: Request }) => request.url.length
    expect(chosenParser([curious as never], 'POST', 'application/json')).toBeUndefined()
  })
})

it.each([
  [{}, 335_544],
  [{ maxAnswerObjects: 100 }, 100],
  [{ maxAnswerBytes: 1_000 }, 335_544],
  [{ maxAnswerBytes: 128 * 1024 * 1024 }, 671_088],
  [{ maxAnswerBytes: 0 }, 1_000_000],
])(
  'with limits %j resolvers may make %i objects of an answer, which are held until it is whole',
  (limits, most) => {
    const size = new AnswerSize(limits)
    for (let object = 0; object < most; object++) size.addObject()
    const refused = expect.objectContaining({ extensions: expect.objectContaining({ limit: most }) })
    for (let object = 0; object < 2; object++) expect(() => size.addObject()).toThrow(refused)
  },
)

it('objects of more fields are held in more bytes', () => {
  const size = new AnswerSize()
  for (let object = 0; object < 10; object++) size.addObject(5)
  expect(size.heldBytes).toBe(10 * 360)
  expect(size.maxHeldBytes).toBe(67_108_864)
})

it('what a plan has written may be more: it is bytes, and no objects', () => {
  const size = new AnswerSize()
  size.add(1_000_000, 0)
  expect(() => size.add(1, 0)).toThrow('more than 1000000 objects')
})

it('who watches an answer hears of its parts over 8 MiB, before one is refused', () => {
  const MIB = 1024 * 1024
  const size = new AnswerSize({ maxAnswerBytes: 16 * MIB })
  const held: number[] = []
  size.watcher = { holds: (_size, bytes) => void held.push(bytes), over: () => {} }
  size.hold(1, 8 * MIB)
  expect(held).toEqual([])
  size.hold(1, 8 * MIB + 1)
  expect(() => size.hold(1, 20 * MIB)).toThrow('bytes')
  expect(held).toEqual([8 * MIB + 1, 20 * MIB])
})

it('calls for an answer end when it is given up, or when the client leaves, if anybody can tell', () => {
  const [alone, followed] = [new AnswerSize(), new AnswerSize()]
  const leaving = new AbortController()
  const signals = [alone.endingWith(undefined), followed.endingWith(leaving.signal)]
  const ended = (): readonly boolean[] => signals.map(({ aborted }) => aborted)
  expect(ended()).toEqual([false, false])
  leaving.abort()
  expect(ended()).toEqual([false, true])
  alone.giveUp()
  expect(ended()).toEqual([true, true])
})
