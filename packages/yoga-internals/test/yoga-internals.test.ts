import { execute, parse } from 'graphql'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { expect, it } from 'vitest'
import { AnswerSize, isYogasOwn, type OwnHook, readOwnHooks, yogasExecutor } from '../src/index.ts'

const schema = createSchema<object>({ typeDefs: 'type Query { hello: String }' })

function serverWith(plugin: Plugin = {}) {
  let server: object = {}
  const probe: Plugin = { onYogaInit: ({ yoga }) => void (server = yoga) }
  createYoga({ schema, logging: false, plugins: [probe, plugin] })
  const all = Reflect.get(server, 'plugins') as readonly Record<string, never>[]
  return { server, plugins: all.filter((one) => one !== (probe as object)) }
}

it('the executor is found, and executes', async () => {
  const execute = yogasExecutor(serverWith().plugins)
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

it('hooks of a server are told from those that a plugin adds', () => {
  const added = { onExecute: () => {}, onRequest() {} }
  const { server, plugins } = serverWith(added)
  const own = readOwnHooks(server)
  const hooks = plugins
    .filter((plugin) => plugin !== (added as object))
    .flatMap((plugin) =>
      Object.entries(plugin).filter(([key]) => key.startsWith('on') && key !== 'onPluginInit'),
    )
  expect(hooks.length).toBeGreaterThan(10)
  expect(hooks.filter(([, hook]) => !own.has(hook))).toEqual([])
  expect([added.onExecute, added.onRequest, undefined, execute].map((hook) => own.has(hook))).toEqual([
    false,
    false,
    false,
    false,
  ])
})

it('what cannot be looked into has no hooks of its own', () => {
  expect(readOwnHooks(Object.create(null) as object).plugins).toEqual([])
  expect(readOwnHooks({}).has(() => {})).toBe(false)
})

it('each hook that others stand in for is found once, or as often as Yoga has it', () => {
  const { plugins } = serverWith()
  const countOf = (name: string, own: OwnHook): number =>
    plugins.filter((plugin) => plugin?.[name] && isYogasOwn(plugin[name], own)).length
  expect(countOf('onRequestParse', 'choose a body parser')).toBeGreaterThan(1)
  expect([
    countOf('onRequestParse', 'limit the body'),
    countOf('onResultProcess', 'negotiate the media type'),
    countOf('onValidate', 'validate by the engine'),
    countOf('onValidate', 'remember what is valid'),
    countOf('onValidate', 'mark errors of validation'),
  ]).toEqual([1, 1, 1, 1, 1])
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

it('what a plan has written may be more: it is bytes, and no objects', () => {
  const size = new AnswerSize()
  size.add(1_000_000, 0)
  expect(() => size.add(1, 0)).toThrow('more than 1000000 objects')
})
