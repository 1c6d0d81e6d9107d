import { parse } from 'graphql'
import { createSchema, createYoga, type Plugin, type YogaServerOptions } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { AnswerSize } from '../src/documents/index.ts'
import { chosenParser, parserHooks, yogasExecutor, yogasPlugins } from '../src/index.ts'

type Options = YogaServerOptions<Record<string, unknown>, Record<string, unknown>>

const schema = createSchema<Record<string, unknown>>({ typeDefs: 'type Query { hello: String }' })

/** Returns all plugins of a server, including Yoga's own plugins. */
function pluginsOf(options: Options): readonly unknown[] {
  let server: object = {}
  const probe: Plugin = { onYogaInit: ({ yoga }) => void (server = yoga) }
  createYoga({ schema, logging: false, ...options, plugins: [probe, ...(options.plugins ?? [])] })
  const all = Reflect.get(server, 'plugins') as readonly unknown[]
  return all.filter((one) => one !== probe)
}

/** Returns the plugins without those that an option turns off. */
const withHooks = (plugins: readonly unknown[]): unknown[] =>
  plugins.filter((plugin) => Object.keys(Object(plugin) as object).length > 0)

it("finds and calls Yoga's executor", async () => {
  const execute = yogasExecutor(pluginsOf({}))
  const result = execute?.({ schema, document: parse('{ hello }'), rootValue: { hello: 'you' } })
  expect(await result).toEqual({ data: { hello: 'you' } })
})

it.each([
  ['no plugins', []],
  ['another first plugin', [{ onParse: () => {} }]],
  ['a first plugin that fails', [{ onExecute: ({ args }: { args: { document: object } }) => args.document }]],
])("does not find Yoga's executor with %s", (_, plugins) => {
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
  ['default options', {}],
  ...Object.entries({ ...OFF, ...ON }),
  ['all options off', together(OFF)],
  ['all options on', together(ON)],
]

/** Returns user plugins that resemble Yoga's plugins or are added at the positions of its plugins. */
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

describe("Yoga's plugins are distinguished from user plugins", () => {
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

  it('if their hooks are wrapped', () => {
    const rewrapped = pluginsOf({ plugins: lookalikes().given }).map((plugin) => {
      const hooks = Object.entries(Object(plugin) as Record<string, (payload: unknown) => unknown>)
      return Object.fromEntries(hooks.map(([name, hook]) => [name, (payload: unknown) => hook(payload)]))
    })
    const names = (plugins: readonly unknown[]): string[] => Object.keys(yogasPlugins(plugins))
    expect(names(rewrapped)).toEqual(names(pluginsOf({})))
    expect(yogasPlugins(rewrapped).bodyLimit).toBe(rewrapped.at(-13))
  })

  it('and are not found if a plugin was inserted or removed', () => {
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

  it('are selected by method and content type', () => {
    expect(chosen({}, 'application/json')).toBeTypeOf('function')
    expect(chosen({}, 'application/json')).toBe(chosen({}, 'application/graphql+json; charset=utf-8'))
    expect(chosen({}, 'application/json')).not.toBe(chosen({}, 'application/graphql'))
    expect(chosenParser(parsersOf(), 'GET', '')).not.toBe(chosen({}, 'application/json'))
    expect(chosen({}, 'image/png')).toBeUndefined()
  })

  it('do not include parsers of user plugins and of disabled options', () => {
    const plugins: Plugin[] = [{ onRequestParse: ({ setRequestParser }) => setRequestParser(() => ({})) }]
    expect(chosen({ plugins }, 'application/json')).toBe(chosen({}, 'application/json'))
    expect(parsersOf({ multipart: false }).length).toBe(parsersOf().length - 1)
    expect(chosen({ multipart: false }, 'multipart/form-data')).toBeUndefined()
    expect(chosen({}, 'multipart/form-data')).toBeTypeOf('function')
  })

  it('are not found if a hook reads more than the method and the content type', () => {
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
])('with limits %j resolvers can create %i objects per response', (limits, most) => {
  const size = new AnswerSize(limits)
  for (let object = 0; object < most; object++) size.addObject()
  const refused = expect.objectContaining({ extensions: expect.objectContaining({ limit: most }) })
  for (let object = 0; object < 2; object++) expect(() => size.addObject()).toThrow(refused)
})

it('counts more bytes for objects with more fields', () => {
  const size = new AnswerSize()
  for (let object = 0; object < 10; object++) size.addObject(5)
  expect(size.heldBytes).toBe(10 * 360)
  expect(size.maxHeldBytes).toBe(67_108_864)
})

it('allows 1,000,000 objects in serialized parts', () => {
  const size = new AnswerSize()
  size.add(1_000_000, 0)
  expect(() => size.add(1, 0)).toThrow('more than 1000000 objects')
})

it('notifies the watcher of parts over 8 MiB, also if they are refused', () => {
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

it('cancels calls when the response is refused or the signal of the client aborts', () => {
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
