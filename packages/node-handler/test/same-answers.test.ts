import { useCSRFPrevention } from '@graphql-yoga/plugin-csrf-prevention'
import { useDeferStream } from '@graphql-yoga/plugin-defer-stream'
import { describe, expect, it } from 'vitest'
import { corpus, hello } from './corpus.ts'
import {
  bothAnswer,
  bytesOf,
  exchange,
  graphql,
  openDoors,
  type RawRequest,
  type YogaOptions,
} from './doors.ts'

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
