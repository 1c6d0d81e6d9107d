import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { createGrpcSource } from '@vinyasa/grpc-source'
import { useLiveQuery } from '@vinyasa/live-query'
import { useResponseCache } from '@vinyasa/response-cache'
import { createRestConnector } from '@vinyasa/rest-connector'
import { expect, it } from 'vitest'

// JavaScript takes any option in silence. The gateway's config refuses them by its schema.

const endpoint = (options: object): unknown =>
  createRestConnector('a', {
    baseUrl: 'http://a',
    endpoints: [{ name: 'b', path: '/', ...options }],
  } as never)

const REFUSED: readonly (readonly [string, () => unknown, string])[] = [
  [
    'a mistyped one of the cache',
    () => useResponseCache({ defualtTtlMs: 1 } as object),
    'response-cache: there is no option defualtTtlMs; did you mean defaultTtlMs?',
  ],
  [
    'one of no meaning to the cache',
    () => useResponseCache({ colour: 'red' } as object),
    'response-cache: there is no option colour; there are maxSize, maxBytes, defaultTtlMs',
  ],
  [
    'getDocumentString, which is of another package',
    () => useResponseCache({ getDocumentString: () => '' } as object),
    'response-cache: option getDocumentString is of @envelop/response-cache; there is nothing like it here.',
  ],
  [
    'buildResponseCacheKey, which is of another package',
    () => useResponseCache({ buildResponseCacheKey: () => '' } as object),
    'response-cache: option buildResponseCacheKey is of @envelop/response-cache; here it is varyHeaders and session, by which answers are told apart.',
  ],
  [
    'a mistyped one of live queries',
    () => useLiveQuery({ joinWindowMS: 1 } as object),
    'live query: there is no option joinWindowMS; did you mean joinWindowMs?',
  ],
  [
    'a mistyped one of a REST connector',
    () => createRestConnector('a', { baseUrl: 'http://a', endpoints: [], timeoutMS: 1 } as never),
    'REST connector "a": there is no option timeoutMS; did you mean timeoutMs?',
  ],
  [
    'a mistyped one of an endpoint',
    () => endpoint({ methd: 'POST' }),
    'REST connector "a": endpoint "b": there is no option methd; did you mean method?',
  ],
  [
    'a mistyped one of a body',
    () => endpoint({ method: 'POST', body: { encodings: {} } }),
    'REST connector "a": endpoint "b": body: there is no option encodings; did you mean encoding?',
  ],
  [
    'a mistyped one of deferred queries',
    () => useDeferSplitter({ maxDeferredFragment: 1 } as object),
    'useDeferSplitter: there is no option maxDeferredFragment; did you mean maxDeferredFragments?',
  ],
]

it.each<readonly [string, object, string]>([
  ['its options', { timeoutMS: 1 }, 'grpc source "a": there is no option timeoutMS; did you mean timeoutMs?'],
  [
    'metadata, by which it would send what was not meant',
    { metadata: { forward: [] } },
    'grpc source "a", metadata: there is no option forward; there are static, fromContext',
  ],
  ['retry', { retry: { max: 0 } }, 'grpc source "a", retry: there is no option max; there are maxRetries'],
  [
    'a method',
    { methods: { 'a.B.C': { deadlineMs: 1 } } },
    'grpc source "a", methods["a.B.C"]: there is no option deadlineMs; there are schema, liveQuery, timeoutMs',
  ],
  [
    'what a method changes',
    { methods: { 'a.B.C': { invalidates: [{ entityType: 'A', idField: 'id' }] } } },
    'grpc source "a", methods["a.B.C"].invalidates: there is no option idField; there are entityType',
  ],
])('a gRPC source refuses a mistyped name in %s', async (_, options, message) => {
  await expect(createGrpcSource({ name: 'a', endpoint: 'a:1', ...options } as never)).rejects.toThrow(message)
})

it.each(REFUSED)('%s is refused', (_, open, message) => {
  expect(open).toThrow(message)
})

it('an option that is undefined is as one that is left out', () => {
  expect(() => useResponseCache({ colour: undefined } as object)).not.toThrow()
})
