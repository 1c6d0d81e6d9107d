import { useCSRFPrevention } from '@graphql-yoga/plugin-csrf-prevention'
import { useDeferStream } from '@graphql-yoga/plugin-defer-stream'
import { describe, expect, it } from 'vitest'
import {
  bothAnswer,
  bytesOf,
  exchange,
  graphql,
  openDoors,
  type RawRequest,
  type YogaOptions,
} from './doors.ts'

const hello = graphql('{ hello }')

/** What is asked, and what the status line of the answer says: so that two equal failures do not pass for success. */
const corpus: readonly (readonly [sentence: string, request: RawRequest, status: number])[] = [
  ['a query', { body: hello }, 200],
  [
    'a query with variables and a name',
    {
      body: graphql('query A($n: String) { hello(name: $n) } query B { slow }', {
        operationName: 'A',
        variables: { n: 'ü' },
      }),
    },
    200,
  ],
  ['an asynchronous resolver', { body: graphql('{ slow }') }, 200],
  ['a mutation', { body: graphql('mutation { bump }') }, 200],
  ['an answer of 600 kB', { body: graphql('{ big }') }, 200],
  ['introspection', { body: graphql('{ __schema { types { name fields { name } } } }') }, 200],
  ['a masked error', { body: graphql('{ fails hello }') }, 200],
  ['an error with extensions', { body: graphql('{ failsTyped }') }, 200],
  ['a null in a non-null field', { body: graphql('{ required }') }, 200],
  ['an error that sets status and headers', { body: graphql('{ http(status: 418) }') }, 418],
  ['a syntax error', { body: graphql('{ hello') }, 200],
  [
    'a syntax error, graphql-response+json',
    { body: graphql('{ hello'), headers: { accept: 'application/graphql-response+json' } },
    400,
  ],
  ['an invalid query', { body: graphql('{ nope }') }, 200],
  [
    'an invalid query, graphql-response+json',
    { body: graphql('{ nope }'), headers: { accept: 'application/graphql-response+json' } },
    400,
  ],
  ['missing variables', { body: graphql('query ($name: String!) { header(name: $name) }') }, 400],
  ['an unknown operation name', { body: graphql('query A { hello }', { operationName: 'B' }) }, 400],
  ['no Accept', { body: hello, headers: { accept: undefined } }, 200],
  ['Accept */*', { body: hello, headers: { accept: '*/*' } }, 200],
  ['Accept of several types', { body: hello, headers: { accept: 'text/html;q=0.2, application/*' } }, 200],
  ['an unacceptable Accept', { body: hello, headers: { accept: 'image/png' } }, 406],
  [
    'an Accept in another charset',
    { body: hello, headers: { accept: 'application/json; charset=iso-8859-1' } },
    406,
  ],
  ['an event stream asked for a query', { body: hello, headers: { accept: 'text/event-stream' } }, 200],
  ['multipart asked for a query', { body: hello, headers: { accept: 'multipart/mixed' } }, 200],
  [
    'a subscription as an event stream',
    { body: graphql('subscription { count(to: 3) }'), headers: { accept: 'text/event-stream' } },
    200,
  ],
  ['a subscription that only takes JSON', { body: graphql('subscription { count(to: 3) }') }, 406],
  ['an empty body', { body: '' }, 400],
  ['bad JSON', { body: '{"query": "{ hello }' }, 400],
  ['JSON after a byte order mark', { body: `\uFEFF${hello}` }, 400],
  [
    'bad UTF-8 outside of a string',
    { body: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(hello)]) },
    400,
  ],
  [
    'bad UTF-8 inside of a string',
    {
      body: Buffer.concat([
        Buffer.from('{"query":"{ hello(name: \\"'),
        Buffer.from([0xc3, 0x28]),
        Buffer.from('\\") }"}'),
      ]),
    },
    200,
  ],
  ['UTF-8 cut in two by chunks', { body: graphql('{ hello(name: "ügü€𝄞") }'), chunked: 1 }, 200],
  ['null', { body: 'null' }, 400],
  ['a number', { body: '7' }, 400],
  ['a string', { body: '"{ hello }"' }, 400],
  ['an empty object', { body: '{}' }, 200],
  ['an unknown parameter', { body: graphql('{ hello }', { surprise: 1 }) }, 400],
  ['a query that is a number', { body: '{"query":7}' }, 400],
  ['variables that are a list', { body: graphql('{ hello }', { variables: [] }) }, 400],
  ['extensions that are a string', { body: graphql('{ hello }', { extensions: 'x' }) }, 400],
  ['a prototype in the body', { body: '{"query":"{ hello }","__proto__":{"x":1}}' }, 400],
  ['a batch where none is allowed', { body: `[${hello}]` }, 400],
  ['an empty batch', { body: '[]' }, 400],
  ['a chunked body', { body: hello, chunked: 5 }, 200],
  ['a charset', { body: hello, headers: { 'content-type': 'application/json; charset=utf-8' } }, 200],
  ['an odd charset', { body: hello, headers: { 'content-type': 'application/json;charset=latin1' } }, 200],
  ['graphql+json', { body: hello, headers: { 'content-type': 'application/graphql+json' } }, 200],
  [
    'a list of content types',
    { body: hello, headers: { 'content-type': 'application/json, text/plain' } },
    200,
  ],
  ['JSON in capitals', { body: hello, headers: { 'content-type': 'Application/JSON' } }, 415],
  ['something like JSON', { body: hello, headers: { 'content-type': 'application/jsonp' } }, 415],
  ['plain text', { body: hello, headers: { 'content-type': 'text/plain' } }, 415],
  ['no content type', { body: hello, headers: { 'content-type': undefined } }, 415],
  [
    'a query as application/graphql',
    { body: '{ hello }', headers: { 'content-type': 'application/graphql' } },
    200,
  ],
  [
    'a form',
    { body: 'query={hello}', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    200,
  ],
  [
    'a GET',
    {
      method: 'GET',
      path: '/graphql?query={hello}',
      headers: { 'content-type': undefined, 'content-length': undefined },
    },
    200,
  ],
  [
    'a GET with a mutation',
    { method: 'GET', path: '/graphql?query=mutation{bump}', headers: { 'content-length': undefined } },
    405,
  ],
  ['a HEAD', { method: 'HEAD', headers: { 'content-length': undefined } }, 405],
  ['a PUT', { method: 'PUT', body: hello }, 405],
  [
    'a preflight',
    { method: 'OPTIONS', headers: { origin: 'https://a.test', 'access-control-request-method': 'POST' } },
    204,
  ],
  ['a foreign Origin', { body: hello, headers: { origin: 'https://a.test' } }, 200],
  [
    'an Origin with an error',
    { body: '{', headers: { origin: 'https://a.test', 'access-control-request-headers': 'x-a' } },
    400,
  ],
  ['another path', { path: '/elsewhere', body: hello }, 404],
  ['the path with a slash and a query', { path: '/graphql/?a=b', body: hello }, 200],
  ['an absolute URL', { path: 'http://other.test/graphql', body: hello }, 200],
  ['a path that ends like the health check', { path: '/health', body: hello }, 200],
  [
    'repeated headers',
    { body: graphql('{ header(name: "x-a") }'), headers: { 'x-a': 'one\r\nx-a: two' } },
    200,
  ],
  [
    'cookies',
    { body: graphql('{ header(name: "cookie") }'), headers: { cookie: 'a=1\r\ncookie: b=2' } },
    200,
  ],
  ['a header that is not there', { body: graphql('{ header(name: "x-b") }') }, 200],
  ['Expect: 100-continue', { body: hello, headers: { expect: '100-continue' } }, 100],
  [
    'a Content-Encoding that nobody undoes',
    { body: 'gzip junk', headers: { 'content-encoding': 'gzip' } },
    400,
  ],
  [
    'variables named like members of Object',
    { body: graphql('{ hello }', { variables: { constructor: 1, hasOwnProperty: 2 } }) },
    200,
  ],
]

const servers: Readonly<Record<string, () => YogaOptions>> = {
  'as it comes': () => ({}),
  'without a size limit': () => ({ maxRequestBodySize: false }),
  'with unmasked errors': () => ({ maskedErrors: false }),
  'with CORS off and allowed headers': () => ({
    cors: false,
    allowedHeaders: {
      request: ['content-type', 'accept', 'x-a'],
      response: ['content-type', 'content-length'],
    },
  }),
  'with CORS for some': () => ({ cors: { origin: ['https://a.test', 'https://b.test'], credentials: true } }),
  'with deferred results': () => ({ plugins: [useDeferStream()] }),
}

describe.each(Object.entries(servers))('a server %s', (_name, options) => {
  it('answers every request alike through both doors', async () => {
    const doors = await openDoors(options)
    expect(doors.handler.slowPathReasons).toEqual([])
    const different = []
    for (const [sentence, request] of corpus) {
      const { yoga, thin } = await bothAnswer(doors, request)
      if (yoga !== thin) different.push({ sentence, yoga: yoga.slice(0, 2000), thin: thin.slice(0, 2000) })
    }
    expect(different).toEqual([])
  })
})

describe('a server as it comes', () => {
  it.each(corpus)('answers %s', async (_sentence, request, status) => {
    const doors = await openDoors()
    expect(await exchange(doors.thin, bytesOf(request))).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })
})

describe('batches', () => {
  const batches: readonly (readonly [string, string])[] = [
    ['two queries', `[${hello},${graphql('{ slow }')}]`],
    ['one that fails among others', `[${hello},${graphql('{ fails }')},${graphql('{')},{},7,null]`],
    ['an empty list', '[]'],
    ['too many', `[${Array(5).fill(hello).join(',')}]`],
  ]
  it.each(batches)('of %s', async (_sentence, body) => {
    const doors = await openDoors(() => ({ batching: { limit: 6 } }))
    const limited = await openDoors(() => ({ batching: { limit: 4 } }))
    for (const each of [doors, limited]) {
      const { yoga, thin } = await bothAnswer(each, { body })
      expect(thin).toBe(yoga)
    }
  })
})

describe('many requests on one connection', () => {
  it('pipelined, are answered in order and alike', async () => {
    const doors = await openDoors(() => ({ plugins: [useCSRFPrevention()] }))
    const csrf = { 'x-graphql-yoga-csrf': '1' }
    const requests: RawRequest[] = [
      { body: graphql('{ slow }'), headers: csrf },
      { body: hello, headers: csrf },
      { body: hello, headers: { 'content-type': 'text/plain' } },
      { body: '{', headers: csrf },
      { method: 'GET', path: '/graphql?query={hello}', headers: { ...csrf, 'content-length': undefined } },
      { body: graphql('{ big }'), headers: csrf },
      { body: hello, chunked: 3, headers: csrf },
    ]
    const bytes = Buffer.concat(requests.map((request, at) => bytesOf(request, at === requests.length - 1)))
    const thin = await exchange(doors.thin, bytes)
    expect(thin).toBe(await exchange(doors.yoga, bytes))
    expect(thin.match(/CSRF/g)).toHaveLength(1)
    expect(thin.match(/HTTP\/1\.1 \d+/g)).toEqual(
      [200, 200, 403, 400, 200, 200, 200].map((s) => `HTTP/1.1 ${s}`),
    )
  })
})
