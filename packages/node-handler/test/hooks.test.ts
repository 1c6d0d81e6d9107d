import type { GraphQLSchema } from 'graphql'
import { createGraphQLError, createSchema, type Plugin } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { bothAnswer, type Doors, get, graphql, openDoors, type RawRequest } from './doors.ts'

type Hooks = Record<string, (payload: any) => unknown>

const requests: readonly RawRequest[] = [
  { body: graphql('{ hello }') },
  { body: graphql('{ hello(name: "x") fails }'), headers: { origin: 'https://a.test', 'x-a': '1' } },
  { body: '{' },
  { body: graphql('{ hello }'), headers: { accept: 'image/png' } },
  { body: `[${graphql('{ hello }')},${graphql('{ slow }')}]` },
  get({ query: '{ hello(name: "x") fails }' }, { 'x-a': '1' }),
  get({ query: 'mutation { bump }' }, { origin: 'https://a.test' }),
  get({}),
]

async function expectAlike(doors: Doors): Promise<string[]> {
  const answers = []
  for (const request of requests) {
    const { yoga, thin } = await bothAnswer(doors, request)
    expect(thin).toBe(withoutStack(yoga, thin))
    answers.push(thin)
  }
  return answers
}

/** Yoga answers what a hook around the request threw with its stack; the handler with the status and its name alone. */
function withoutStack(yoga: string, thin: string): string {
  if (!yoga.includes('\n    at ')) return yoga
  const [statusLine = ''] = yoga.split('\r\n')
  const name = statusLine.replace(/^\S+ \d+ /, '')
  return thin.startsWith(`${statusLine}\r\n`) && thin.endsWith(`\r\n\r\n${name}\n`) ? thin : yoga
}

const named = (name: string, does: string, hooks: Hooks, mark: string) =>
  [`${name} ${does}`, hooks, mark] as const
const response = (fetchAPI: any, text: string): Response =>
  new fetchAPI.Response(text, { status: 299, headers: { 'x-by': 'plugin' } })

/** Each with a mark that shows in some answer, so that a hook that never ran does not pass. */
const plugins = [
  named(
    'onRequest',
    'ends the response',
    { onRequest: ({ endResponse, fetchAPI }) => endResponse(response(fetchAPI, 'ended')) },
    'ended',
  ),
  named(
    'onRequest',
    'ends the response later',
    {
      onRequest: async ({ endResponse, fetchAPI }) => {
        await Promise.resolve()
        endResponse(response(fetchAPI, 'ended late'))
      },
    },
    'ended late',
  ),
  named(
    'onRequest',
    'replaces the request',
    {
      onRequest: ({ request, setRequest, fetchAPI }) => {
        setRequest(
          new fetchAPI.Request(request.url, {
            method: 'POST',
            headers: request.headers,
            body: graphql('{ hello(name: "other") }'),
          }),
        )
      },
    },
    'hello other',
  ),
  named(
    'onRequest',
    'wraps the handler',
    {
      onRequest: ({ requestHandler, setRequestHandler }) => {
        setRequestHandler(async (request: Request, context: unknown) => {
          const answer: Response = await requestHandler(request, context)
          answer.headers.set('x-wrapped', request.method)
          return answer
        })
      },
    },
    'x-wrapped: POST',
  ),
  named(
    'onRequest',
    'adds to the context',
    {
      onRequest: ({ serverContext }) =>
        void Object.assign(serverContext, { jwt: { payload: { sub: 'me' } } }),
      onParams: ({ setParams, params, context }) =>
        setParams({ ...params, query: `{ hello(name: "${context.jwt.payload.sub}") me }` }),
    },
    '"me":"me"',
  ),
  named(
    'onRequest',
    'reads the URL in many ways',
    {
      onRequest: ({ request, url, serverContext }) => {
        serverContext.seen = [
          url.pathname,
          url.searchParams.get('a'),
          url.hostname,
          String(request.url),
          request.parsedUrl?.pathname,
        ]
      },
      onResponse: ({ response, serverContext }) => response.headers.set('x-url', serverContext.seen.join()),
    },
    'x-url: /graphql,,',
  ),
  named(
    'onRequest',
    'looks at every member of the request',
    {
      onRequest: ({ request, serverContext }) => {
        serverContext.seen = [
          'cache',
          'credentials',
          'destination',
          'integrity',
          'keepalive',
          'mode',
          'redirect',
          'referrer',
          'bodyUsed',
          'duplex',
        ].map((name) => request[name])
        serverContext.seen.push(
          Object.prototype.toString.call(request),
          request.clone() === request,
          request.body !== null,
        )
      },
      onResponse: ({ response, serverContext }) => response.headers.set('x-seen', serverContext.seen.join()),
    },
    'x-seen: default,same-origin',
  ),
  named(
    'onRequest',
    'sees an instance of Request',
    {
      onRequest: ({ request, fetchAPI, serverContext }) =>
        void (serverContext.is = request instanceof fetchAPI.Request),
      onResponse: ({ response, serverContext }) => response.headers.set('x-is', String(serverContext.is)),
    },
    'x-is: true',
  ),
  named(
    'onRequest',
    'reads the body as text',
    {
      onRequest: async ({ request, serverContext }) =>
        void (serverContext.length = (await request.text()).length),
      onResponse: ({ response, serverContext }) =>
        response.headers.set('x-length', String(serverContext.length)),
    },
    'x-length: 21',
  ),
  named(
    'onRequest',
    'reads the body as bytes',
    {
      onRequest: async ({ request, serverContext }) =>
        void (serverContext.length = (await request.arrayBuffer()).byteLength),
      onResponse: ({ response, serverContext }) =>
        response.headers.set('x-length', String(serverContext.length)),
    },
    'x-length: 21',
  ),
  named(
    'onRequest',
    'changes a header',
    { onRequest: ({ request }) => request.headers.set('accept', 'application/graphql-response+json') },
    'graphql-response+json',
  ),
  named(
    'onRequest',
    'throws',
    {
      onRequest: () => {
        throw new Error('thrown in onRequest')
      },
    },
    'Internal Server Error',
  ),
  named(
    'onRequest',
    'throws an error with a status',
    {
      onRequest: () => {
        throw Object.assign(new Error('no'), { status: 451 })
      },
    },
    ' 451 ',
  ),
  named(
    'onResponse',
    'replaces the response',
    { onResponse: ({ setResponse, fetchAPI }) => setResponse(response(fetchAPI, 'replaced')) },
    'replaced',
  ),
  named(
    'onResponse',
    'sets headers and cookies',
    {
      onResponse: async ({ response }) => {
        response.headers.append('set-cookie', 'a=1')
        response.headers.append('set-cookie', 'b=2')
        response.headers.set('x-after', 'yes')
      },
    },
    'set-cookie: b=2',
  ),
  named(
    'onResponse',
    'deletes Content-Length',
    { onResponse: ({ response }) => response.headers.delete('content-length') },
    'chunked',
  ),
  named(
    'onResponse',
    'changes the status',
    { onResponse: ({ response }) => void Object.assign(response, { status: 202, statusText: 'Taken' }) },
    ' 202 Taken',
  ),
  named(
    'onResponse',
    'reads the body, then changes headers and status',
    {
      onResponse: async ({ response }) => {
        response.headers.set('x-text', String((await response.text()).length))
        Object.assign(response, { status: 203 })
        response.headers.delete('content-type')
      },
    },
    'x-text: 32',
  ),
  named(
    'onResponse',
    'makes another response of it',
    {
      onResponse: ({ response, setResponse, fetchAPI }) =>
        setResponse(new fetchAPI.Response(response.body, { status: 201, headers: response.headers })),
    },
    ' 201 ',
  ),
  named(
    'onResponse',
    'replaces the headers',
    {
      onResponse: ({ response, fetchAPI }) =>
        void Object.assign(response, { headers: new fetchAPI.Headers({ 'x-all': 'new' }) }),
    },
    'x-all: new',
  ),
  named(
    'onResponse',
    'throws',
    {
      onResponse: () => {
        throw new Error('thrown in onResponse')
      },
    },
    'Internal Server Error',
  ),
  named(
    'onRequestParse',
    'ends the response',
    { onRequestParse: ({ endResponse, fetchAPI }) => endResponse(response(fetchAPI, 'ended')) },
    'ended',
  ),
  named(
    'onRequestParse',
    'throws',
    {
      onRequestParse: () => {
        throw createGraphQLError('refused', { extensions: { http: { status: 403 } } })
      },
    },
    'refused',
  ),
  named(
    'onRequestParse',
    'rejects with several errors',
    {
      onRequestParse: async () => {
        throw new AggregateError([createGraphQLError('one'), createGraphQLError('two'), new Error('hidden')])
      },
    },
    'two',
  ),
  named(
    'onRequestParse',
    'throws a string',
    {
      onRequestParse: () => {
        throw 'a string'
      },
    },
    'errors',
  ),
  named(
    'onRequestParse',
    'throws nothing at all',
    {
      onRequestParse: () => {
        throw undefined
      },
    },
    'errors',
  ),
  named(
    'onRequestParse',
    'throws an AbortError',
    {
      onRequestParse: () => {
        throw new DOMException('left', 'AbortError')
      },
    },
    'errors',
  ),
  named(
    'onRequestParse',
    'sets a parser',
    {
      onRequestParse: ({ setRequestParser }) =>
        setRequestParser(() => ({ query: '{ hello(name: "parsed") }' })),
    },
    'hello parsed',
  ),
  named(
    'onRequestParse',
    'wraps the parser',
    {
      onRequestParse: ({ requestParser, setRequestParser, url }) => {
        setRequestParser(async (request: Request) => ({
          ...(await requestParser(request)),
          query: `{ hello(name: "${url.pathname}") }`,
        }))
      },
    },
    'hello /graphql',
  ),
  named(
    'onRequestParse',
    'reads the stream itself',
    {
      onRequestParse: ({ setRequestParser }) => {
        setRequestParser(async (request: Request) => {
          const chunks: Uint8Array[] = []
          for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) chunks.push(chunk)
          return { query: `{ hello(name: "${Buffer.concat(chunks).length}") }` }
        })
      },
    },
    'hello 21',
  ),
  named(
    'onRequestParse',
    'answers from its parser',
    {
      onRequestParse: ({ setRequestParser, fetchAPI }) =>
        setRequestParser(() => response(fetchAPI, 'from the parser')),
    },
    'from the parser',
  ),
  named(
    'onRequestParseDone',
    'changes the result',
    {
      onRequestParse: () => ({
        onRequestParseDone: async ({ requestParserResult, setRequestParserResult }: any) =>
          setRequestParserResult(
            Array.isArray(requestParserResult) ? requestParserResult : { query: '{ hello(name: "done") }' },
          ),
      }),
    },
    'hello done',
  ),
  named(
    'onParams',
    'changes the parameters',
    { onParams: async ({ setParams }) => setParams({ query: '{ hello(name: "params") }' }) },
    'hello params',
  ),
  named(
    'onParams',
    'sets the result',
    { onParams: ({ setResult }) => setResult({ data: { by: 'params' } }) },
    '"by":"params"',
  ),
  named(
    'onParams',
    'wraps the handler',
    {
      onParams: ({ paramsHandler, setParamsHandler }) => {
        setParamsHandler(async (payload: unknown) => ({
          ...(await paramsHandler(payload)),
          extensions: { wrapped: true },
        }))
      },
    },
    '"wrapped":true',
  ),
  named(
    'onParams',
    'throws',
    {
      onParams: () => {
        throw new Error('secret')
      },
    },
    'Unexpected error',
  ),
  named(
    'onExecutionResult',
    'changes the result',
    { onExecutionResult: ({ setResult }) => setResult({ data: { by: 'result' } }) },
    '"by":"result"',
  ),
  named(
    'onExecutionResult',
    'throws',
    {
      onExecutionResult: async () => {
        throw new Error('secret')
      },
    },
    'Unexpected error',
  ),
  named(
    'onResultProcess',
    'changes the result',
    {
      onResultProcess: ({ result, setResult }) =>
        setResult(Array.isArray(result) ? result : { ...result, extensions: { processed: 1 } }),
    },
    '"processed":1',
  ),
  named(
    'onResultProcess',
    'sets a processor',
    {
      onResultProcess: ({ setResultProcessor }) =>
        setResultProcessor(
          (_result: unknown, fetchAPI: any, type: string) => response(fetchAPI, `as ${type}`),
          'text/x',
        ),
    },
    'as text/x',
  ),
  named(
    'onResultProcess',
    'takes headers from the result',
    {
      onExecutionResult: ({ result }) =>
        void Object.assign(result, {
          extensions: { http: { status: 207, headers: { 'x-r': '1' } }, kept: 1 },
        }),
    },
    ' 207 ',
  ),
  named(
    "Envelop's hooks",
    'run and change the result',
    {
      onExecute: () => ({
        onExecuteDone: ({ result, setResult }: any) => setResult({ ...result, extensions: { executed: 1 } }),
      }),
      onContextBuilding: ({ extendContext, context }) =>
        extendContext({ jwt: { payload: { sub: context.request.method } } }),
      onParse: () => {},
      onValidate: () => {},
    },
    '"executed":1',
  ),
]

describe('a plugin whose hook', () => {
  it.each(plugins)('%s works alike behind both doors', async (_name, hooks, mark) => {
    const doors = await openDoors(() => ({ plugins: [hooks as Plugin], batching: true }))
    expect(doors.handler.slowPathReasons).toEqual([])
    expect((await expectAlike(doors)).join('\n')).toContain(mark)
  })

  it.each(plugins)('%s works alike with unmasked errors', async (_name, hooks) => {
    expect.assertions(requests.length)
    await expectAlike(
      await openDoors(() => ({ plugins: [hooks as Plugin], batching: true, maskedErrors: false })),
    )
  })
})

// Yoga itself fails on such a request when it limits the size of bodies.
it('a request made of the request works alike where there is no size limit', async () => {
  const hooks: Plugin = {
    onRequest: ({ request, setRequest, fetchAPI }) => setRequest(new fetchAPI.Request(request)),
  }
  const doors = await openDoors(() => ({ plugins: [hooks], batching: true, maxRequestBodySize: false }))
  expect((await expectAlike(doors)).join()).toContain('hello world')
})

it('the request has every member that a true one has, of the same kind', async () => {
  const kinds: string[] = []
  const hooks: Plugin = {
    onRequest: ({ request, fetchAPI }) => {
      const real = new fetchAPI.Request('http://a.test/', { method: 'POST', body: 'text' })
      for (let at: object = real; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
        for (const name of Object.getOwnPropertyNames(at)) {
          if (/^[a-z]/.test(name) && name !== 'constructor') {
            kinds.push(`${name} ${typeof Reflect.get(request, name)}`)
          }
        }
      }
      kinds.push(`href ${typeof Reflect.get(request, 'href')}`)
    },
  }
  const doors = await openDoors(() => ({ plugins: [hooks] }))
  const { yoga, thin } = await bothAnswer(doors, { body: graphql('{ hello }') })
  expect(thin).toBe(yoga)
  const half = kinds.length / 2
  expect(half).toBeGreaterThan(30)
  expect(kinds.slice(half)).toEqual(kinds.slice(0, half))
})

it('the response has every member that a true one has, of the same kind', async () => {
  const kinds: string[] = []
  const hooks: Plugin = {
    onResponse: ({ response, fetchAPI }) => {
      const real = new fetchAPI.Response('text')
      kinds.push(String(response instanceof fetchAPI.Response), Object.prototype.toString.call(response))
      for (let at: object = real; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
        for (const name of Object.getOwnPropertyNames(at)) {
          if (!/^[a-z]/.test(name) || name === 'constructor') continue
          const value: unknown = Reflect.get(response, name)
          kinds.push(`${name} ${/object|function/.test(typeof value) ? typeof value : String(value)}`)
        }
      }
    },
  }
  const doors = await openDoors(() => ({ plugins: [hooks] }))
  const { yoga, thin } = await bothAnswer(doors, { body: graphql('{ hello }') })
  expect(thin).toBe(yoga)
  const half = kinds.length / 2
  expect(half).toBeGreaterThan(20)
  expect(kinds.slice(half)).toEqual(kinds.slice(0, half))
})

describe('a document that was valid before', () => {
  const refuse = (context: any): readonly unknown[] | undefined =>
    context.request.headers.get('x-refuse') ? [createGraphQLError('refused now')] : undefined

  it.each<[string, Hooks]>([
    ['by a hook', { onValidate: ({ context, setResult }) => setResult(refuse(context)) }],
    [
      'by a hook after it',
      { onValidate: () => (done: any) => done.setResult(refuse(done.context) ?? done.result) },
    ],
    [
      'by another engine',
      { onValidate: ({ setValidationFn }) => setValidationFn(() => [createGraphQLError('refused now')]) },
    ],
  ])('is refused alike %s', async (_how, hooks) => {
    const doors = await openDoors(() => ({
      plugins: [hooks as Plugin],
      parserAndValidationCache: { validationCache: false },
    }))
    const body = graphql('{ hello }')
    for (let round = 0; round < 2; round++) {
      const accepted = await bothAnswer(doors, { body })
      const refused = await bothAnswer(doors, { body, headers: { 'x-refuse': '1' } })
      expect([accepted.thin, refused.thin]).toEqual([accepted.yoga, refused.yoga])
      expect(refused.thin).toContain('refused now')
    }
  })

  it('is validated again where somebody measures the step', async () => {
    let validated = 0
    const instrumentation = {
      validate: (_payload: unknown, wrapped: () => unknown) => {
        validated += 1
        return wrapped()
      },
    }
    const doors = await openDoors(() => ({ plugins: [{ instrumentation } as Plugin] }))
    for (let round = 0; round < 3; round++) await bothAnswer(doors, { body: graphql('{ hello }') })
    expect(validated).toBe(6)
  })

  it('is refused by another schema', async () => {
    const schemas = ['hello', 'other'].map((field) =>
      createSchema({ typeDefs: `type Query { ${field}: String }` }),
    )
    const doors = await openDoors(() => {
      let requests = 0
      return { schema: () => schemas[Math.floor(requests++ / 2) % 2] as GraphQLSchema }
    })
    const statuses = []
    for (let round = 0; round < 4; round++) {
      const { yoga, thin } = await bothAnswer(doors, { body: graphql('{ hello }') })
      expect(thin).toBe(yoga)
      statuses.push(thin.includes('"errors"'))
    }
    expect(statuses).toEqual([false, false, true, true])
  })
})

it('hooks run in the same order, with the same things in their hands', async () => {
  const seen: Record<string, string[]> = { yoga: [], thin: [] }
  let door = 'thin'
  const recorder = (label: string): Plugin => {
    const at = door
    const record =
      (hook: string) =>
      (payload: any): void => {
        seen[at]?.push(`${label} ${hook} ${Object.keys(payload).sort().join()}`)
      }
    return Object.fromEntries(
      [
        'onRequest',
        'onRequestParse',
        'onParams',
        'onParse',
        'onValidate',
        'onExecute',
        'onExecutionResult',
        'onResultProcess',
        'onResponse',
      ].map((hook) => [hook, record(hook)]),
    )
  }
  const doors = await openDoors(() => {
    const plugins = [recorder('a'), recorder('b')]
    door = 'yoga'
    return { plugins }
  })
  await bothAnswer(doors, { body: graphql('{ hello }') })
  expect(seen['thin']).toEqual(seen['yoga'])
  expect(seen['thin']).toHaveLength(18)
})

describe('a server that the fast path does not serve', () => {
  it.each([
    [
      'instrumentation of the request',
      { plugins: [{ instrumentation: { request: (_: unknown, wrapped: () => void) => wrapped() } }] },
      'a plugin uses instrumentation.request',
    ],
    [
      'a hook that it does not know',
      { plugins: [{ onSomethingNew: () => {} }] },
      'a plugin uses onSomethingNew',
    ],
    [
      'the native Request',
      { fetchAPI: { Request, Response, Headers, URL, ReadableStream, TextEncoder } },
      'the option fetchAPI brings another Request class',
    ],
  ])('for %s says why, and Yoga answers', async (_sentence, options, reason) => {
    const doors = await openDoors(() => options as object)
    expect(doors.handler.slowPathReasons).toEqual([reason])
    const { yoga, thin } = await bothAnswer(doors, { body: graphql('{ hello }') })
    expect(thin).toBe(yoga)
    expect(thin).toContain('hello world')
  })

  it("keeps Envelop's instrumentation on the fast path", async () => {
    let executed = 0
    const doors = await openDoors(() => ({
      plugins: [
        {
          instrumentation: {
            execute: (_payload: unknown, wrapped: () => Promise<void> | void) => {
              executed += 1
              return wrapped()
            },
          },
        },
      ],
    }))
    expect(doors.handler.slowPathReasons).toEqual([])
    await bothAnswer(doors, { body: graphql('{ hello }') })
    expect(executed).toBe(2)
  })
})
