import { createServer } from 'node:http'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { createGrpcSource } from '@vinyasa/grpc-source'
import { createNatsInvalidationBus } from '@vinyasa/invalidation/nats'
import { createRedisInvalidationBus } from '@vinyasa/invalidation/redis'
import { createLiveQueryStore, useLiveQuery } from '@vinyasa/live-query'
import { attachLiveServer } from '@vinyasa/live-query/ws'
import { usePipeline, useUploads } from '@vinyasa/node-handler'
import { useResponseCache } from '@vinyasa/response-cache'
import { createRedisStore } from '@vinyasa/response-cache/redis'
import { createRestConnector, oauth2ClientCredentials } from '@vinyasa/rest-connector'
import { useSources } from '@vinyasa/source-kit'
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
    'response-cache: there is no option colour; the options are maxSize, maxBytes, defaultTtlMs',
  ],
  [
    'getDocumentString, which is of another package',
    () => useResponseCache({ getDocumentString: () => '' } as object),
    'response-cache: option getDocumentString belongs to @envelop/response-cache; remove the option, because @vinyasa/response-cache does not have it.',
  ],
  [
    'buildResponseCacheKey, which is of another package',
    () => useResponseCache({ buildResponseCacheKey: () => '' } as object),
    'response-cache: option buildResponseCacheKey belongs to @envelop/response-cache; use varyHeaders and session.',
  ],
  [
    'a mistyped one of live queries',
    () => useLiveQuery({ maxSubscription: 1 } as object),
    'live query: there is no option maxSubscription; did you mean maxSubscriptions?',
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
    'a mistyped one of the pipeline',
    () => usePipeline({ liftLiteral: true } as object),
    'usePipeline: there is no option liftLiteral; did you mean liftLiterals?',
  ],
  [
    'a mistyped one of the bus over Redis',
    () => createRedisInvalidationBus({ url: 'redis://a', channels: 'a' } as never),
    'createRedisInvalidationBus: there is no option channels; did you mean channel?',
  ],
  [
    'a mistyped one of the bus over NATS',
    () => createNatsInvalidationBus({ servers: 'a', server: 'b' } as never),
    'createNatsInvalidationBus: there is no option server; did you mean servers?',
  ],
  [
    'a mistyped one of the store in Redis',
    () => createRedisStore({ url: 'redis://a', connection: 1 } as never),
    'response-cache: there is no option connection; did you mean connect?',
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
    'grpc source "a": there is no option metadata.forward; the options are static, fromContext',
  ],
  [
    'retry',
    { retry: { max: 0 } },
    'grpc source "a": there is no option retry.max; the options are maxRetries',
  ],
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
    'grpc source "a": there is no option methods.a.B.C.deadlineMs; the options are schema, liveQuery, timeoutMs',
  ],
  [
    'what a method changes',
    { methods: { 'a.B.C': { invalidates: [{ entityType: 'A', idField: 'id' }] } } },
    'grpc source "a": there is no option methods.a.B.C.invalidates.idField; the options are entityType',
  ],
])('a gRPC source refuses a mistyped name in %s', async (_, options, message) => {
  await expect(createGrpcSource({ name: 'a', endpoint: 'a:1', ...options } as never)).rejects.toThrow(message)
})

it.each(REFUSED)('%s is refused', (_, open, message) => {
  expect(open).toThrow(message)
})

const UNSET = Number(undefined)
const connector = (options: object): unknown =>
  createRestConnector('a', { baseUrl: 'http://a', endpoints: [], ...options })

// `Number(process.env.LIMIT)` is NaN where the variable is not set, and every comparison with it false: no limit at all.
it.each<readonly [() => unknown, string]>([
  [
    () => connector({ maxResponseBytes: UNSET }),
    'option maxResponseBytes is NaN; expected a number greater than 0',
  ],
  [
    () => connector({ maxConnections: 0 }),
    'option maxConnections is 0; expected a whole number of at least 1',
  ],
  [() => connector({ cacheSize: 1.5 }), 'option cacheSize is 1.5; expected a whole number of at least 0'],
  [
    () => connector({ breaker: { threshold: 50 } }),
    'breaker.threshold is 50; expected a number greater than 0 and less than 1',
  ],
  [() => connector({ breaker: { threshold: 1 } }), 'expected a number greater than 0 and less than 1'],
  [
    () => connector({ retry: { multiplier: 0 } }),
    'option retry.multiplier is 0; expected a number of at least 1',
  ],
  [() => connector({ timeoutMs: '1000' }), 'option timeoutMs is "1000"; expected a number greater than 0'],
  [() => endpoint({ timeoutMs: UNSET }), 'endpoint "b": option timeoutMs is NaN'],
  [() => endpoint({ liveQuery: { throttleMs: UNSET } }), 'option liveQuery.throttleMs is NaN'],
  [
    () => oauth2ClientCredentials({ timeoutMs: UNSET } as never),
    'oauth2ClientCredentials: option timeoutMs is NaN',
  ],
  [() => useResponseCache({ maxBytes: UNSET }), 'response-cache: option maxBytes is NaN'],
  [() => useResponseCache({ ttlMsBySchemaCoordinate: { A: -1 } }), 'option ttlMsBySchemaCoordinate.A is -1'],
  [() => createRedisStore({ url: UNSET } as never), 'option url is a number; expected a string'],
  [() => useLiveQuery({ maxSubscriptions: UNSET }), 'live query: option maxSubscriptions is NaN'],
  [() => useLiveQuery({ batch: { maxBatchSize: 0 } }), 'option batch.maxBatchSize is 0'],
  [
    () => useLiveQuery({ fields: { a: { pollIntervalMs: 0 } } }),
    'pollIntervalMs is 0; expected a number of at least 50',
  ],
  [
    () => attachLiveServer(createServer(), { plugin: useLiveQuery(), maxBufferedBytes: UNSET }),
    'live query: option maxBufferedBytes is NaN',
  ],
  [
    () => useDeferSplitter({ maxDeferredFragments: UNSET }),
    'useDeferSplitter: option maxDeferredFragments is NaN',
  ],
  [() => useUploads({ maxFileBytes: UNSET }), 'useUploads: option maxFileBytes is NaN'],
  [() => useSources([], { maxAnswerBytes: UNSET }), 'useSources: option maxAnswerBytes is NaN'],
  [
    () => createRedisInvalidationBus({ url: 'redis://a', channel: UNSET } as never),
    'createRedisInvalidationBus: option channel is a number; expected a string',
  ],
  [
    () => createNatsInvalidationBus({ servers: 'a', channel: UNSET } as never),
    'createNatsInvalidationBus: option channel is a number; expected a string',
  ],
])('a number that cannot be meant is refused (%#): %j', (open, message) => {
  expect(open).toThrow(message)
})

it.each<readonly [object, string]>([
  [{ timeoutMs: UNSET }, 'grpc source "a": option timeoutMs is NaN'],
  [{ channel: { maxReceiveBytes: UNSET } }, 'option channel.maxReceiveBytes is NaN'],
  [{ channel: { maxConnections: 0 } }, 'option channel.maxConnections is 0'],
  [{ methods: { 'a.B.C': { timeoutMs: UNSET } } }, 'option methods.a.B.C.timeoutMs is NaN'],
  [{ reflection: { timeoutMs: UNSET } }, 'option reflection.timeoutMs is NaN'],
])('a gRPC source refuses %j: %s', async (options, message) => {
  await expect(createGrpcSource({ name: 'a', endpoint: 'a:1', ...options } as never)).rejects.toThrow(message)
})

it('a limit may be Infinity: none', () => {
  expect(() => useResponseCache({ maxBytes: Infinity })).not.toThrow()
})

it('an option that is undefined is as one that is left out', () => {
  expect(() => useResponseCache({ colour: undefined } as object)).not.toThrow()
})

it.each<readonly [string, () => unknown]>([
  [
    'headers',
    () => createRestConnector('a', { baseUrl: 'http://a', endpoints: [], defaultHeaders: 's3cret' } as never),
  ],
  [
    'a header',
    () =>
      createRestConnector('a', {
        baseUrl: 'http://a',
        endpoints: [],
        defaultHeaders: { a: 53_237 },
      } as never),
  ],
])('%s that cannot be meant are refused without their value', (_, open) => {
  let message = ''
  try {
    open()
  } catch (error) {
    ;({ message } = error as Error)
  }
  expect(message).toMatch(/option \w+ is (a|an) \w+; expected/)
  expect(message).not.toMatch(/s3cret|53237/)
})
