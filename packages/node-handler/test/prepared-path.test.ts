import * as fc from 'fast-check'
import * as graphqlJs from 'graphql'
import { createSchema, type Plugin } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import type { Behaviour, Operation } from '@vinyasa/core/pipeline'
import { usePipeline } from '../src/index.ts'
import { corpus, hello } from './corpus.ts'
import {
  bothAnswer,
  bytesOf,
  type Doors,
  exchange,
  get,
  graphql,
  openDoors,
  type RawRequest,
  type YogaOptions,
} from './doors.ts'
import { countShortRuns } from './short-runs.ts'

type WithPart = Plugin & { readonly behaviour: Behaviour }

/** Both doors with the prepared path open, and the calls that took it; only the thin door has one. */
async function openShort(options: () => YogaOptions = () => ({})): Promise<Doors & { calls: Operation[] }> {
  const { plugin, calls } = countShortRuns()
  const doors = await openDoors(() => {
    const given = options()
    return { ...given, plugins: [...(given.plugins ?? []), plugin, usePipeline()] }
  })
  return { ...doors, calls }
}

const servers: Readonly<Record<string, () => YogaOptions>> = {
  'as it comes': () => ({}),
  'without a size limit': () => ({ maxRequestBodySize: false }),
  'with a small size limit': () => ({ maxRequestBodySize: 40 }),
  'with unmasked errors': () => ({ maskedErrors: false }),
  'with CORS for some': () => ({ cors: { origin: ['https://a.test', 'https://b.test'], credentials: true } }),
  'without CORS': () => ({ cors: false }),
  'with batching': () => ({ batching: true }),
}

describe.each(Object.entries(servers))('a server %s', (_name, options) => {
  it('answers every request alike, however often it came before', async () => {
    const doors = await openShort(options)
    expect(doors.handler.uncachedReasons).toEqual([])
    const different = []
    for (const [sentence, request] of corpus) {
      const yoga = await exchange(doors.yoga, bytesOf(request))
      for (const time of [1, 2, 3]) {
        const thin = await exchange(doors.thin, bytesOf(request))
        if (yoga !== thin)
          different.push({ sentence, time, yoga: yoga.slice(0, 900), thin: thin.slice(0, 900) })
      }
    }
    expect(different).toEqual([])
    expect(doors.calls.length).toBeGreaterThan(15)
  })
})

describe('what takes the prepared path', () => {
  const goes: readonly (readonly [sentence: string, request: RawRequest, isShort: boolean])[] = [
    ['a query', { body: hello }, true],
    ['one with an error', { body: graphql('{ fails hello }') }, true],
    ['a mutation', { body: graphql('mutation { bump }') }, true],
    ['an invalid query', { body: graphql('{ nope }') }, true],
    ['an invalid subscription', { body: graphql('subscription { nope }') }, false],
    ['one with a syntax error', { body: graphql('{ nope') }, false],
    ['one of another name', { body: graphql('query A { nope }', { operationName: 'B' }) }, false],
    ['a chunked body', { body: hello, chunked: 5 }, true],
    ['a query in the target', { body: hello, path: '/graphql?x=1' }, true],
    ['another media type', { body: hello, headers: { accept: 'text/event-stream' } }, true],
    [
      'multipart beside JSON',
      { body: hello, headers: { accept: 'multipart/mixed, application/json' } },
      true,
    ],
    [
      'what GraphQL clients accept',
      { body: hello, headers: { accept: 'application/graphql-response+json, application/json;q=0.9' } },
      true,
    ],
    [
      'JSON before other types',
      {
        body: hello,
        headers: {
          accept:
            'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
        },
      },
      true,
    ],
    ['another origin', { body: hello, headers: { origin: 'https://a.test' } }, true],
    ['extensions', { body: graphql('{ hello }', { extensions: { clientLibrary: { name: 'a' } } }) }, true],
    ['extensions that are a list', { body: graphql('{ hello }', { extensions: [] }) }, false],
    ['a GET', get({ query: '{ hello }' }), true],
    [
      'one with variables',
      get({ query: 'query ($n: String) { hello(name: $n) }', variables: '{"n":"a"}' }),
      true,
    ],
    ['one with an error', get({ query: '{ fails hello }' }), true],
    ['one with parameters that nobody knows', get({ query: '{ hello }', a: '' }), true],
    [
      'one with empty parameters',
      get({ query: '{ hello }', variables: '', operationName: '', extensions: '' }),
      true,
    ],
    ['one with a mutation', get({ query: 'mutation { bump }' }), false],
    ['one with extensions', get({ query: '{ hello }', extensions: '{"a":1}' }), true],
    ['one of a page', get({ query: '{ hello }' }, { accept: 'text/html' }), false],
    ['one from another origin', get({ query: '{ hello }' }, { origin: 'https://a.test' }), true],
    ['one with a validator', get({ query: '{ hello }' }, { 'if-none-match': '"a"' }), true],
    ['one with a body', { ...get({ query: '{ hello }' }), body: hello, headers: {} }, false],
    ['a HEAD', { ...get({ query: '{ hello }' }), method: 'HEAD' }, false],
    [
      'a large chunked body',
      { body: graphql('{ hello }', { variables: { a: 'x'.repeat(70_000) } }), chunked: 40_000 },
      true,
    ],
    ['a large body', { body: graphql('{ hello }', { variables: { a: 'x'.repeat(70_000) } }) }, true],
  ]
  it.each(goes)('%s', async (_sentence, request, isShort) => {
    const doors = await openShort()
    for (const time of [1, 2]) {
      const { yoga, thin } = await bothAnswer(doors, request)
      expect(thin).toBe(yoga)
      // The first one goes through all hooks.
      expect(doors.calls.length).toBe(isShort && time === 2 ? 1 : 0)
    }
  })

  const [one, other] = ['a', 'b'].map((name) => createSchema({ typeDefs: `type Query { ${name}: Int }` }))
  const chosenBy = (request: Request): typeof one => (request.headers.get('x-schema') === 'b' ? other : one)
  const choices: Readonly<Record<string, () => YogaOptions>> = {
    'a plugin': () => ({
      schema: one as never,
      plugins: [
        {
          onEnveloped({ setSchema, context }) {
            setSchema(chosenBy((context as unknown as { readonly request: Request }).request))
          },
        } satisfies Plugin,
        usePipeline(),
      ],
    }),
    'a factory': () => ({
      schema: (({ request }: { readonly request: Request }) => chosenBy(request)) as never,
      plugins: [usePipeline()],
    }),
  }
  it.each(Object.entries(choices))(
    '%s chooses a schema: what another one refuses is asked again',
    async (_, options) => {
      const doors = await openDoors(options)
      for (const time of [1, 2, 3])
        for (const field of ['a', 'b'])
          for (const name of ['a', 'b']) {
            const bytes = bytesOf({ body: graphql(`{ ${field} }`), headers: { 'x-schema': name } })
            const thin = await exchange(doors.thin, bytes)
            expect([time, name, thin]).toEqual([time, name, await exchange(doors.yoga, bytes)])
            expect([time, name, field, thin.includes('errors')]).toEqual([time, name, field, field !== name])
          }
    },
  )

  it('nothing before usePipeline() is among the plugins', async () => {
    const { handler } = await openDoors()
    expect(handler.uncachedReasons).toEqual(['the plugins do not include usePipeline()'])
  })
})

const HOOKS = [
  'onRequest',
  'onResponse',
  'onRequestParse',
  'onParams',
  'onExecutionResult',
  'onResultProcess',
  'onEnveloped',
  'onParse',
  'onValidate',
  'onContextBuilding',
  'onExecute',
  'onSubscribe',
] as const

describe('a plugin that says nothing of the prepared path', () => {
  it.each(HOOKS)('leaves it open with %s, and is called for every request', async (name) => {
    let called = 0
    const doors = await openShort(() => ({ plugins: [{ [name]: () => void called++ } as Plugin] }))
    expect(doors.handler.uncachedReasons).toEqual([])
    const before = called
    for (let time = 0; time < 3; time++) await exchange(doors.thin, bytesOf({ body: hello }))
    expect(doors.calls).toHaveLength(2)
    expect(called - before).toBe(name === 'onSubscribe' ? 0 : 3)
  })

  it('can assign to the parameters of a body that came before', async () => {
    let query: string | undefined
    const doors = await openShort(() => ({
      plugins: [{ onParams: ({ params }) => void (query && Object.assign(params, { query })) } as Plugin],
    }))
    const ask = async (): Promise<string> => exchange(doors.thin, bytesOf({ body: hello }))
    for (let time = 0; time < 3; time++) expect(await ask()).toContain('hello world')
    await exchange(doors.thin, bytesOf({ body: graphql('{ hello(name: "known") }') }))
    for (query of ['{ hello(name: "new") }', '{ hello(name: "known") }'])
      expect(await ask()).toContain(query.includes('new') ? 'hello new' : 'hello known')
    query = undefined
    expect(await ask()).toContain('hello world')
  })

  it('leaves it open with a context of the server', async () => {
    const doors = await openShort(() => ({ context: () => ({ a: 1 }) }))
    for (let time = 0; time < 3; time++) await exchange(doors.thin, bytesOf({ body: hello }))
    expect(doors.calls.map(({ context }) => context['a'])).toEqual([1, 1])
  })

  it('closes it by instrumentation, which wraps steps that are left out', async () => {
    const instrumentation = { execute: (_payload: unknown, wrapped: () => unknown) => wrapped() }
    const instrumented = await openShort(() => ({ plugins: [{ instrumentation } as Plugin] }))
    expect(instrumented.handler.uncachedReasons).toEqual(['a plugin uses instrumentation.execute'])
  })

  it('leaves it open with hooks of the server alone', async () => {
    const nothing = (): void => {}
    const plugin = { onPluginInit: nothing, onSchemaChange: nothing, onYogaInit: nothing, onDispose: nothing }
    expect((await openShort(() => ({ plugins: [plugin] }))).handler.uncachedReasons).toEqual([])
  })
})

describe('a part', () => {
  async function withPart(behaviour: Behaviour, hooks: Plugin = {}): ReturnType<typeof openShort> {
    return openShort(() => ({ plugins: [{ ...hooks, behaviour } as WithPart] }))
  }
  const ask = async (doors: Doors, request: RawRequest, times = 2): Promise<string> => {
    let answer = ''
    for (let time = 0; time < times; time++) answer = await exchange(doors.thin, bytesOf(request))
    return answer
  }

  it('sends documents that it does not admit through the hooks for results', async () => {
    const doors = await withPart({ admits: ({ definition }) => definition.name?.value === 'Mine' })
    await ask(doors, { body: hello })
    expect(doors.calls).toHaveLength(0)
    await ask(doors, { body: graphql('query Mine { hello }') })
    expect(doors.calls).toHaveLength(1)
  })

  it('checks each request before its body is parsed, and parses equal bodies once', async () => {
    const seen: unknown[] = []
    const doors = await withPart({
      checkRequest({ headers }) {
        if (headers.get('x-mine') === null) throw new graphqlJs.GraphQLError('not mine')
      },
      wrapParser: (parse) => (request) => {
        seen.push('parsed')
        return parse(request)
      },
    })
    expect(await ask(doors, { body: hello }, 1)).toContain('not mine')
    expect(seen).toEqual([])
    await ask(doors, { body: hello, headers: { 'x-mine': '1' } }, 4)
    // The second request finds the document, and its body is cached.
    expect(seen).toHaveLength(2)
    expect(await ask(doors, { body: hello }, 1)).toContain('not mine')
  })

  it('limits the size of bodies, chunked or not', async () => {
    const doors = await withPart({
      checkBodySize(bytes) {
        if (bytes > 24)
          throw new graphqlJs.GraphQLError('too large', { extensions: { http: { status: 413 } } })
      },
    })
    expect(await ask(doors, { body: hello })).toMatch(/^HTTP\/1.1 200 /)
    const body = graphql('{ hello hello }')
    for (const request of [{ body }, { body, chunked: 5 }])
      expect(await ask(doors, request, 1)).toMatch(/^HTTP\/1.1 413 [^]*too large/)
  })

  it('says how answers are marked for what else clients accept', async () => {
    const mediaTypeOf = (accept: string): string | undefined =>
      accept.includes('multipart/') ? 'application/mine+json' : undefined
    const doors = await withPart({ mediaTypeOf })
    const accept = 'multipart/mixed, application/json'
    expect(await ask(doors, { body: hello, headers: { accept } })).toMatch(
      /^Content-Type: application\/mine\+json;/m,
    )
    for (const other of ['image/png', 'text/plain'])
      expect(await ask(doors, { body: hello, headers: { accept: other } })).not.toContain('application/mine')
  })

  it('answers, stands around the execution, and adds headers', async () => {
    const seen: unknown[] = []
    const doors = await withPart({
      execute(call, next) {
        if (call.params.variables?.['answer']) return { data: { hello: 'mine' } }
        seen.push(call.context['request'] === call.request)
        return next(call)
      },
      respond({ context }, { status, headers }) {
        headers.set('X-Mine', `${status} ${'params' in context} ${headers.get('Content-Type')}`)
      },
    })
    const executed = await ask(doors, { body: hello })
    expect(executed).toContain('x-mine: 200 true application/json; charset=utf-8')
    expect(executed).toMatch(/hello world"}}$/)
    const answered = await ask(doors, { body: graphql('{ hello }', { variables: { answer: true } }) }, 1)
    expect(answered).toContain('x-mine: 200 true')
    expect(answered).toMatch(/{"data":{"hello":"mine"}}$/)
    expect(seen).toEqual([true, true])
  })

  it.each([
    [
      'throws',
      (refusal: Error) => () => {
        throw refusal
      },
    ],
    ['rejects', (refusal: Error) => () => Promise.reject(refusal)],
  ])('refuses an operation of a cached document: admit %s', async (_how, refuse) => {
    const extensions = { code: 'MINE', http: { status: 429, headers: { 'retry-after': '7' } } }
    const refusal = new graphqlJs.GraphQLError('too often', { extensions })
    let isLate = false
    const doors = await withPart({
      admit: () => (isLate ? refuse(refusal)() : undefined),
      execute(call, next) {
        if (isLate) throw new Error('was executed')
        return next(call)
      },
    })
    await ask(doors, { body: hello })
    expect(doors.calls).toHaveLength(1)
    isLate = true
    for (const body of [hello, graphql('{ hello header(name: "a") }')]) {
      const answer = await ask(doors, { body })
      expect(answer).toMatch(/^HTTP\/1.1 429 /)
      expect(answer).toContain('retry-after: 7')
      expect(answer).toContain('"code":"MINE"')
    }
    expect(doors.calls).toHaveLength(1)
  })

  it('puts a text in the place of an id', async () => {
    const doors = await withPart({
      changeParams: (params) => (Reflect.get(params, 'id') === 'h' ? { query: '{ hello }' } : undefined),
    })
    await ask(doors, { body: hello }, 1)
    expect(await ask(doors, { body: JSON.stringify({ id: 'h' }) }, 1)).toMatch(/hello world"}}$/)
    expect(doors.calls).toHaveLength(1)
  })

  it('puts it there beside variables, which may be others each time', async () => {
    const query = 'query ($name: String) { hello(name: $name) }'
    const doors = await withPart({
      changeParams: (params) =>
        Reflect.get(params, 'id') === 'h' ? { query, variables: params.variables } : undefined,
    })
    await ask(doors, { body: graphql(query, { variables: { name: 'a' } }) }, 1)
    for (const name of ['b', 'c', 'd']) {
      const body = JSON.stringify({ id: 'h', variables: { name } })
      expect(await ask(doors, { body }, 1)).toContain(`hello ${name}`)
    }
    expect(doors.calls).toHaveLength(3)
  })

  it('is followed by what its error is on the ordinary way', async () => {
    const doors = await withPart({
      execute() {
        throw new Error('a secret')
      },
    })
    const answer = await ask(doors, { body: hello })
    expect(answer).toContain('Unexpected error.')
    expect(answer).not.toContain('a secret')
  })
})

it('a schema that changes makes every operation unknown', async () => {
  let setSchema: ((schema: never) => void) | undefined
  const part: WithPart = {
    behaviour: {},
    // Of the first server, which is the handler's.
    onPluginInit: (payload) => void (setSchema ??= payload.setSchema as never),
  }
  const doors = await openShort(() => ({ plugins: [part] }))
  for (let time = 0; time < 2; time++) await exchange(doors.thin, bytesOf({ body: hello }))
  expect(doors.calls).toHaveLength(1)
  setSchema?.(
    createSchema({
      typeDefs: 'type Query { hello: Int }',
      resolvers: { Query: { hello: () => 7 } },
    }) as never,
  )
  expect(await exchange(doors.thin, bytesOf({ body: hello }))).toMatch(/{"hello":7}}$/)
  expect(doors.calls).toHaveLength(1)
  expect(await exchange(doors.thin, bytesOf({ body: hello }))).toMatch(/{"hello":7}}$/)
  expect(doors.calls).toHaveLength(2)
})

describe('a body that came before', () => {
  const { GraphQLScalarType } = graphqlJs
  const scalar = (): YogaOptions => ({
    schema: createSchema({
      typeDefs: 'scalar Any type Query { keep(value: Any): String! hello: String }',
      resolvers: {
        Any: new GraphQLScalarType({ name: 'Any' }),
        Query: {
          keep(
            _parent,
            { value }: { value: unknown },
            context: { params: { variables?: { value?: unknown } } },
          ) {
            const seen = JSON.stringify([value, context.params.variables])
            if (Array.isArray(value)) value.push('changed')
            if (context.params.variables) context.params.variables.value = 'changed'
            return seen
          },
        },
      },
    }) as never,
  })

  it.each([[['a']], ['a'], [7], [null], [undefined], [{ a: ['b'] }]])(
    'has the variables of its own request alone: %j',
    async (value) => {
      // As one that is answered without an execution is remembered whatever its variables are.
      let isAnswered = false
      const part: Behaviour = {
        execute: (call, next) => (isAnswered ? { data: { keep: 'mine' } } : next(call)),
      }
      const doors = await openShort(() => ({ ...scalar(), plugins: [{ behaviour: part } as WithPart] }))
      const body = graphql('query ($value: Any) { keep(value: $value) }', { variables: { value } })
      const answers = new Set<string>()
      for (let time = 0; time < 6; time++) {
        isAnswered = time === 2
        const answer = await exchange(doors.thin, bytesOf({ body }))
        if (!isAnswered) answers.add(answer)
      }
      expect([...answers]).toEqual([await exchange(doors.yoga, bytesOf({ body }))])
      expect(doors.calls).toHaveLength(5)
    },
  )

  it('is one object for parts, and another for every other body', async () => {
    const doors = await openShort()
    const ask = async (body: string): Promise<unknown> => {
      await exchange(doors.thin, bytesOf({ body }))
      return doors.calls.at(-1)?.sameBytes
    }
    const bodies = [hello, ` ${hello}`, graphql('{hello}')]
    for (const body of bodies) for (let time = 0; time < 2; time++) await ask(body)
    const same: unknown[] = []
    for (const body of bodies) same.push(await ask(body))
    expect(new Set(same).size).toBe(bodies.length)
    expect(same).not.toContain(undefined)
    for (const [index, body] of bodies.entries()) expect(await ask(body)).toBe(same[index])
  })

  it('is not remembered by an execution that a change of the schema overtook', async () => {
    let setSchema: ((schema: never) => void) | undefined
    const part: WithPart = {
      behaviour: {
        execute(call, next) {
          setSchema?.(
            createSchema({
              typeDefs: 'type Query { hello: Int }',
              resolvers: { Query: { hello: () => 7 } },
            }) as never,
          )
          setSchema = undefined
          return next(call)
        },
      },
      onPluginInit: (payload) => void (given ??= payload.setSchema as never),
    }
    let given: typeof setSchema
    const doors = await openShort(() => ({ plugins: [part] }))
    await exchange(doors.thin, bytesOf({ body: hello }))
    setSchema = given
    await exchange(doors.thin, bytesOf({ body: hello }))
    for (let time = 0; time < 3; time++)
      expect(await exchange(doors.thin, bytesOf({ body: hello }))).toMatch(/{"hello":7}}$/)
  })
})

it('answers requests alike that nobody wrote', { timeout: 30_000 }, async () => {
  const doors = await openShort(() => ({ maxRequestBodySize: 2_000 }))
  const query = fc.constantFrom(
    '{ hello }',
    'query A { hello } query B { slow }',
    'query ($n: String) { hello(name: $n) }',
    '{ required }',
    '{',
  )
  const value = fc.oneof(
    fc.string(),
    fc.constant(null),
    fc.integer(),
    fc.array(fc.string(), { maxLength: 2 }),
  )
  const seldom = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
    fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })
  const body = fc.record({
    query: fc.oneof({ weight: 9, arbitrary: query }, { weight: 1, arbitrary: value }),
    variables: fc.oneof(
      fc.constant(undefined),
      fc.dictionary(fc.constantFrom('n', 'm', '__proto__'), value, { maxKeys: 2 }),
      seldom(value),
    ),
    operationName: fc.constantFrom(undefined, undefined, 'A', 'B', '', null, 7),
    extensions: seldom(fc.constantFrom(null, {}, 'x')),
    other: seldom(value),
  })
  const headersOf = {
    accept: fc.constantFrom(
      undefined,
      '*/*',
      'application/json',
      'application/graphql-response+json',
      'application/graphql-response+json, application/json',
      'application/json, */*',
      'text/html',
      '',
      'application/json;q=0',
    ),
    origin: seldom(fc.constantFrom('https://a.test', 'null')),
    'content-encoding': seldom(fc.constantFrom('identity', 'gzip')),
  }
  const headers = fc.record({
    ...headersOf,
    'content-type': fc.constantFrom(
      'application/json',
      'application/json; charset=utf-8',
      'application/json;charset=UTF-16',
    ),
  })
  const posts = fc
    .tuple(body, headers, fc.constantFrom('', ' ', '\n'))
    .map(([json, more, space]): RawRequest => ({ body: `${space}${JSON.stringify(json)}`, headers: more }))
  const json = fc.oneof(fc.dictionary(fc.constantFrom('n', '__proto__'), value, { maxKeys: 2 }), value)
  const written = fc.oneof(
    { weight: 9, arbitrary: json.map((one) => JSON.stringify(one)) },
    { weight: 1, arbitrary: fc.constantFrom('', '{', 'null', ' {}') },
  )
  const parameter = fc.oneof(
    { weight: 9, arbitrary: fc.tuple(fc.constant('query'), query) },
    { weight: 3, arbitrary: fc.tuple(fc.constant('variables'), written) },
    { weight: 3, arbitrary: fc.tuple(fc.constant('operationName'), fc.constantFrom('A', 'B', '', 'C')) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('extensions'), written) },
    { weight: 1, arbitrary: fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })) },
  )
  const gets = fc
    .record({
      parameters: fc.array(parameter, { minLength: 1, maxLength: 4 }),
      headers: fc.record({
        ...headersOf,
        'content-type': fc.constantFrom(undefined, 'application/json', 'text/plain'),
        'content-length': seldom(fc.constant('0')),
        'if-none-match': seldom(fc.constantFrom('*', '"a"')),
      }),
      method: fc.oneof(
        { weight: 9, arbitrary: fc.constant('GET') },
        { weight: 1, arbitrary: fc.constantFrom('HEAD', 'OPTIONS') },
      ),
      path: fc.oneof(
        { weight: 9, arbitrary: fc.constant('/graphql') },
        { weight: 1, arbitrary: fc.constantFrom('/graphql/', '/other') },
      ),
      end: seldom(fc.constantFrom('&', '%', '%FF', '#', '?', '+')),
    })
    .map(({ parameters, method, path, end = '', headers }): RawRequest => {
      const search = new URLSearchParams(parameters)
      return { method, path: `${path}?${search}${end}`, headers }
    })
  const alike = fc.asyncProperty(fc.oneof(posts, gets), async (request) => {
    const bytes = bytesOf(request)
    const yoga = await exchange(doors.yoga, bytes)
    expect(await exchange(doors.thin, bytes)).toBe(yoga)
    expect(await exchange(doors.thin, bytes)).toBe(yoga)
  })
  const short = (method: string): number =>
    doors.calls.filter(({ request }) => request.method === method).length
  // Chance decides how many are taken the prepared path: without any of either it would show nothing.
  do await fc.assert(alike, { numRuns: 200 })
  while (Math.min(short('GET'), short('POST')) < 4)
})
