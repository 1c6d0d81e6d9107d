import { createServer } from 'node:http'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { createGrpcSource } from '@vinyasa/grpc-source'
import { createLiveQueryStore, useLiveQuery } from '@vinyasa/live-query'
import { attachLiveServer } from '@vinyasa/live-query/ws'
import { createNodeHandler, usePipeline, useUploads } from '@vinyasa/node-handler'
import { useResponseCache } from '@vinyasa/response-cache'
import { createRestConnector, oauth2ClientCredentials } from '@vinyasa/rest-connector'
import { useSources } from '@vinyasa/source-kit'
import { createYoga } from 'graphql-yoga'
import { expect, it } from 'vitest'

// JavaScript takes any option in silence. The gateway's config refuses them by its schema.

const endpoint = (options: object): unknown =>
  createRestConnector('a', {
    baseUrl: 'http://a',
    endpoints: [{ name: 'b', path: '/', ...options }],
  } as never)

const REFUSED: readonly (readonly [string, () => unknown, string])[] = [
  [
    'one that REST connectors had once',
    () => createRestConnector('a', { baseUrl: 'http://a', endpoints: [], retryBudget: false } as never),
    'there is no option retryBudget',
  ],
  [
    'a mistyped one of OAuth2',
    () =>
      oauth2ClientCredentials({
        tokenUrl: 'http://a',
        clientId: 'a',
        clientSecret: 'b',
        leewayMs: 1,
      } as never),
    'oauth2ClientCredentials: there is no option leewayMs',
  ],
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
    () => useLiveQuery({ maxFailure: 1 } as object),
    'live query: there is no option maxFailure; did you mean maxFailures?',
  ],
  [
    'a mistyped one of batches of live queries',
    () => useLiveQuery({ batch: { debounce: 1 } } as object),
    'live query: there is no option batch.debounce; did you mean debounceMs?',
  ],
  [
    'a mistyped one of a live field',
    () => useLiveQuery({ fields: { todos: { throttle: 0 } } } as object),
    'live query: there is no option fields.todos.throttle; did you mean throttleMs?',
  ],
  [
    'a mistyped one of all live fields',
    () => useLiveQuery({ defaults: { enable: true } } as object),
    'live query: there is no option defaults.enable; did you mean enabled?',
  ],
  [
    'a mistyped one of a store',
    () => createLiveQueryStore({ maxSubscription: 1 } as object),
    'live query: there is no option maxSubscription; did you mean maxSubscriptions?',
  ],
  [
    'a mistyped one of sockets',
    () => attachLiveServer(createServer(), { plugin: useLiveQuery(), allowedOrigin: [] } as never),
    'live query: there is no option allowedOrigin; did you mean allowedOrigins?',
  ],
  [
    'a mistyped one of uploads',
    () => useUploads({ maxFile: 1 } as object),
    'useUploads: there is no option maxFile; did you mean maxFiles?',
  ],
  [
    'a mistyped one of the HTTP door',
    () => createNodeHandler(createYoga({}), { maxBodyByte: 1 } as object),
    'createNodeHandler: there is no option maxBodyByte; did you mean maxBodyBytes?',
  ],
  [
    'a mistyped one of the pipeline',
    () => usePipeline({ liftLiteral: true } as object),
    'usePipeline: there is no option liftLiteral; did you mean liftLiterals?',
  ],
  [
    'a mistyped limit of answers',
    () => useSources([], { maxAnswerObject: 1 } as object),
    'useSources: there is no option maxAnswerObject; did you mean maxAnswerObjects?',
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
    'REST connector "a": endpoint "b": there is no option body.encodings; did you mean encoding?',
  ],
  [
    'a mistyped one of a join',
    () => endpoint({ on: { type: 'A', field: 'b', args: {}, batch: { keys: 'id' } } }),
    'REST connector "a": endpoint "b": there is no option on.batch.keys; did you mean key?',
  ],
  [
    'a mistyped one of retries',
    () => createRestConnector('a', { baseUrl: 'http://a', endpoints: [], retry: { retries: 1 } } as never),
    'REST connector "a": there is no option retry.retries; did you mean maxRetries?',
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
    'grpc source "a": there is no option metadata.forward; there are static, fromContext',
  ],
  ['retry', { retry: { max: 0 } }, 'grpc source "a": there is no option retry.max; there are maxRetries'],
  [
    'the transport of its calls',
    { channel: { keepalive: { time: 1 } } },
    'grpc source "a": there is no option channel.keepalive.time; did you mean timeMs?',
  ],
  [
    'a join',
    { joins: [{ type: 'A', field: 'b', batch: { parentKeys: 'id' } }] },
    'grpc source "a": there is no option joins.batch.parentKeys; did you mean parentKey?',
  ],
  [
    'a method',
    { methods: { 'a.B.C': { deadlineMs: 1 } } },
    'grpc source "a": there is no option methods.a.B.C.deadlineMs; there are schema, liveQuery, timeoutMs',
  ],
  [
    'what a method changes',
    { methods: { 'a.B.C': { invalidates: [{ entityType: 'A', idField: 'id' }] } } },
    'grpc source "a": there is no option methods.a.B.C.invalidates.idField; there are entityType',
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
