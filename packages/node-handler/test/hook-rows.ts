import { createGraphQLError } from 'graphql-yoga'
import { graphql } from './doors.ts'

export type Hooks = Record<string, (payload: any) => unknown>

function named(name: string, does: string, hooks: Hooks, mark: string): HookRow {
  return [`${name} ${does}`, hooks, mark]
}
const response = (fetchAPI: any, text: string): Response =>
  new fetchAPI.Response(text, { status: 299, headers: { 'x-by': 'plugin' } })

/** What a hook assigns to its payload itself changes nothing: Yoga makes one for each hook. */
function assigns(name: string, own: (payload: any) => object): HookRow {
  let assigned = 0
  const hooks: Hooks = {
    [name](payload) {
      Object.assign(payload, own(payload))
      assigned++
    },
    onResponse: ({ response }) => void (assigned && response.headers.set('x-assigned', 'yes')),
  }
  return named(name, 'assigns to what it is given', hooks, 'x-assigned: yes')
}

/** Each with a mark that shows in some answer, so that a hook that never ran does not pass. */
type HookRow = readonly [name: string, hooks: Hooks, mark: string]

export const HOOK_ROWS: readonly HookRow[] = [
  assigns('onRequest', ({ fetchAPI }) => ({
    request: new fetchAPI.Request('http://other/'),
    requestHandler: () => response(fetchAPI, 'assigned'),
  })),
  assigns('onRequestParse', () => ({ requestParser: () => ({ query: '{ hello(name: "assigned") }' }) })),
  assigns('onParams', () => ({
    params: { query: '{ hello(name: "assigned") }' },
    paramsHandler: async () => ({ data: { by: 'assigned' } }),
  })),
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
    'onContextBuilding',
    'fails, of which a handler says more',
    {
      onPluginInit: ({ registerContextErrorHandler }) =>
        registerContextErrorHandler(({ error, setError }: any) =>
          setError(createGraphQLError(`said of ${error.message}`)),
        ),
      onContextBuilding() {
        throw new Error('a failure')
      },
    },
    'said of a failure',
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
