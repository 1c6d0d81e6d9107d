import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { useCSRFPrevention } from '@graphql-yoga/plugin-csrf-prevention'
import { createInlineSigningKeyProvider, useJWT } from '@graphql-yoga/plugin-jwt'
import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations'
import { useResponseCache } from '@graphql-yoga/plugin-response-cache'
import { useContentEncoding, useErrorHandling, useRequestDeadline } from '@whatwg-node/server'
import { useReadinessCheck } from 'graphql-yoga'
import { expect, it } from 'vitest'
import { usePipeline } from '../src/index.ts'
import { bothAnswer, graphql, openDoors, type RawRequest, type YogaOptions } from './doors.ts'

const KEY = 'a key that only tests know'
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
function token(payload: object, key = KEY): string {
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(payload)}`
  return `Bearer ${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`
}

const hello = graphql('{ hello }')
const hash = '1'.repeat(64)
const persisted = JSON.stringify({ extensions: { persistedQuery: { version: 1, sha256Hash: hash } } })
const gzip = { 'content-encoding': 'gzip' }

type Case = readonly [
  plugin: string,
  options: () => YogaOptions,
  requests: readonly (readonly [RawRequest, status: number, says: string])[],
]

const cases: readonly Case[] = [
  [
    'CSRF prevention',
    () => ({ plugins: [useCSRFPrevention({ requestHeaders: ['x-csrf'] })] }),
    [
      [{ body: hello }, 200, 'hello world'],
      [{ body: hello, headers: { 'content-type': 'text/plain' } }, 403, 'CSRF'],
      [{ body: '{ hello }', headers: { 'content-type': 'application/graphql' } }, 200, 'hello world'],
    ],
  ],
  [
    'JWT',
    () => ({
      plugins: [
        useJWT({
          signingKeyProviders: [createInlineSigningKeyProvider(KEY)],
          tokenVerification: { algorithms: ['HS256'] },
          reject: { missingToken: true, invalidToken: true },
          extendContext: 'jwt',
        }),
      ],
    }),
    [
      [{ body: graphql('{ me }'), headers: { authorization: token({ sub: 'ada' }) } }, 200, '"me":"ada"'],
      [{ body: graphql('{ me }') }, 401, 'errors'],
      [
        { body: graphql('{ me }'), headers: { authorization: token({ sub: 'eve' }, 'another') } },
        401,
        'errors',
      ],
      [{ body: graphql('{ me }'), headers: { authorization: token({ sub: 'ada', exp: 1 }) } }, 401, 'errors'],
      [{ body: graphql('{ me }'), headers: { authorization: 'Bearer x.y.z' } }, 400, 'errors'],
    ],
  ],
  [
    'persisted operations',
    () => ({
      plugins: [
        usePersistedOperations({ getPersistedOperation: (key) => (key === hash ? '{ hello }' : null) }),
      ],
    }),
    [
      [{ body: persisted }, 200, 'hello world'],
      [{ body: persisted.replaceAll('1111', '2222') }, 200, 'PERSISTED_QUERY_NOT_IN_LIST'],
      [{ body: hello }, 200, 'CANNOT_SEND_PQ_ID_AND_BODY'],
      [{ body: '{}' }, 200, 'PERSISTED_QUERY_ID_REQUIRED'],
    ],
  ],
  [
    "Yoga's response cache",
    () => ({ plugins: [useResponseCache({ session: () => null, includeExtensionMetadata: true })] }),
    [
      [{ body: hello }, 200, '"hit":false'],
      [{ body: hello }, 200, '"hit":true'],
      [{ body: hello }, 200, 'ETag'],
      [{ body: graphql('mutation { bump }') }, 200, '"bump":1'],
    ],
  ],
  [
    'readiness check',
    () => ({ plugins: [useReadinessCheck({ endpoint: '/ready', check: () => false })] }),
    [
      [{ path: '/ready', body: hello }, 503, ''],
      [{ path: '/health', body: '{}' }, 200, 'x-yoga-id'],
      [{ body: hello }, 200, 'hello world'],
    ],
  ],
  [
    'content encoding',
    () => ({ plugins: [useContentEncoding()] }),
    [
      [{ body: gzipSync(hello), headers: gzip }, 200, 'hello world'],
      [{ body: gzipSync(hello), headers: gzip, chunked: 9 }, 200, 'hello world'],
      [{ body: hello, headers: { 'content-encoding': 'nonsense' } }, 415, ''],
      [{ body: hello, headers: { 'accept-encoding': 'gzip' } }, 200, 'content-encoding: gzip'],
    ],
  ],
  [
    'error handling',
    () => ({
      plugins: [
        useErrorHandling((error) => new Response(`handled ${(error as Error).message}`, { status: 500 })),
        {
          onRequest: ({ setRequestHandler }: any) =>
            setRequestHandler(() => Promise.reject(new Error('on purpose'))),
        },
        useErrorHandling((error) => new Response(`caught ${(error as Error).message}`, { status: 503 })),
      ],
    }),
    [[{ body: hello }, 503, 'caught on purpose']],
  ],
  [
    'request deadline',
    () => ({
      plugins: [useRequestDeadline({ timeout: 5_000, response: () => new Response(null, { status: 504 }) })],
    }),
    [[{ body: graphql('{ slow }') }, 200, '"slow":"slow"']],
  ],
  [
    'a context function',
    () => ({ context: ({ request }: any) => ({ jwt: { payload: { sub: request.headers.get('x-me') } } }) }),
    [
      [{ body: graphql('{ me }'), headers: { 'x-me': 'ada' } }, 200, '"me":"ada"'],
      [{ body: graphql('{ me }') }, 200, '"me":null'],
    ],
  ],
]

it.each(cases)('%s works alike behind both doors', async (_plugin, options, requests) => {
  const doors = await openDoors(options)
  expect(doors.handler.slowPathReasons).toEqual([])
  for (const [request, status, says] of requests) {
    const { yoga, thin } = await bothAnswer(doors, request)
    expect(thin).toBe(yoga)
    expect(thin).toContain(`HTTP/1.1 ${status} `)
    expect(thin).toContain(says)
  }
})

it.each(cases)('%s works alike where queries are known', async (_plugin, options, requests) => {
  const doors = await openDoors(() => {
    const given = options()
    return { ...given, plugins: [...(given.plugins ?? []), usePipeline({ liftLiterals: true })] }
  })
  expect(doors.handler.uncachedReasons).toEqual([])
  for (const time of [1, 2, 3]) {
    for (const [request] of requests) {
      const { yoga, thin } = await bothAnswer(doors, request)
      expect(thin, `time ${time}`).toBe(yoga)
    }
  }
})
