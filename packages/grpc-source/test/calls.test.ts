import { getEventListeners } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Metadata, ServerCredentials } from '@grpc/grpc-js'
import {
  createDisposables,
  createFakeClock,
  grpcError,
  makeCertificate,
  startGrpcBackend,
  waitUntil,
} from '@vinyasa/test-kit'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import type { GraphQLError } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STATUS_NAMES } from '@vinyasa/grpc-transport'
import { createGrpcSource } from '../src/index.ts'
import { GRAPHQL_PROTO } from './graphql-proto.ts'
import { backend, describeTransports, disposables, run, yogaWith, type Yoga } from './harness.ts'

const PROTO = `
syntax = "proto3";
package c;
import "graphql.proto";
service S {
  rpc Get(Req) returns (Res) { option (graphql.schema) = { name: "get" }; }
  rpc Put(Req) returns (Res) { option (graphql.schema) = { type: MUTATION name: "put" }; }
}
message Req { string id = 1; int32 delay = 2; }
message Res { string text = 1; }
`
const ok = { 'c.S/Get': () => ({ text: 'x' }), 'c.S/Put': () => ({ text: 'x' }) }

/** As decided. */
const STATUS_CODES: readonly (readonly [string, string])[] = [
  ['CANCELLED', 'CANCELLED'],
  ['UNKNOWN', 'INTERNAL_SERVER_ERROR'],
  ['INVALID_ARGUMENT', 'BAD_USER_INPUT'],
  ['DEADLINE_EXCEEDED', 'TIMEOUT'],
  ['NOT_FOUND', 'NOT_FOUND'],
  ['ALREADY_EXISTS', 'CONFLICT'],
  ['PERMISSION_DENIED', 'FORBIDDEN'],
  ['RESOURCE_EXHAUSTED', 'RATE_LIMITED'],
  ['FAILED_PRECONDITION', 'FAILED_PRECONDITION'],
  ['ABORTED', 'CONFLICT'],
  ['OUT_OF_RANGE', 'BAD_USER_INPUT'],
  ['UNIMPLEMENTED', 'NOT_IMPLEMENTED'],
  ['INTERNAL', 'INTERNAL_SERVER_ERROR'],
  ['UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
  ['DATA_LOSS', 'INTERNAL_SERVER_ERROR'],
  ['UNAUTHENTICATED', 'UNAUTHENTICATED'],
]

it('status has all sixteen', () => expect(STATUS_CODES.map(([name]) => name)).toEqual(STATUS_NAMES.slice(1)))

const MACHINERY = new Set([
  'CANCELLED',
  'UNKNOWN',
  'DEADLINE_EXCEEDED',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
])

describe.each(['http2', 'grpc-js'] as const)('status, over %s', (transport) => {
  const whole = createDisposables(afterAll)
  const yogas = new Map<boolean | 'caller' | undefined, Yoga>()
  let answered = ''
  beforeAll(async () => {
    const metadata = new Metadata()
    metadata.set('x-internal', 'canary')
    const fails = (): never => {
      throw grpcError(STATUS_NAMES.indexOf(answered as never), 'secret', metadata)
    }
    const protoText = { 'graphql.proto': GRAPHQL_PROTO, 'c.proto': PROTO }
    const { address } = whole.use(
      await startGrpcBackend({ protos: protoText, handlers: { 'c.S/Get': fails } }),
    )
    const endpoint = { protoText: { 'c.proto': PROTO }, endpoint: address, retry: { maxRetries: 0 } }
    for (const exposeErrors of [undefined, false, 'caller', true] as const) {
      const logger = { warn() {}, error() {} }
      const grpc = await createGrpcSource({ name: 'test', logger, transport, ...endpoint, exposeErrors })
      yogas.set(exposeErrors, yogaWith(whole.use(grpc)))
    }
  })

  it.each(STATUS_CODES)(
    '%s becomes %s; the message is shown where that is asked for',
    async (status, code) => {
      answered = status
      for (const [exposeErrors, yoga] of yogas) {
        const result = await run(yoga, '{ get { text } }')
        expect(result.errors).toEqual([
          {
            message: expect.any(String),
            path: ['get'],
            locations: expect.anything(),
            extensions: { code, grpc: { status } },
          },
        ])
        const isShown = exposeErrors === true || (exposeErrors === 'caller' && !MACHINERY.has(status))
        expect(result.errors[0].message === 'secret').toBe(isShown)
        expect(JSON.stringify(result)).not.toContain('canary')
      }
      expect(yogas.size).toBe(4)
    },
  )
})

describeTransports('status', (source) => {
  it('shows decoded details only when exposeErrors is true', async () => {
    const violation = new BinaryWriter()
      .tag(1, WireType.LengthDelimited)
      .fork()
      .tag(1, WireType.LengthDelimited)
      .string('email')
      .tag(2, WireType.LengthDelimited)
      .string('taken')
      .join()
      .finish()
    const any = new BinaryWriter()
      .tag(1, WireType.LengthDelimited)
      .string('type.googleapis.com/google.rpc.BadRequest')
      .tag(2, WireType.LengthDelimited)
      .bytes(violation)
      .finish()
    const metadata = new Metadata()
    metadata.set(
      'grpc-status-details-bin',
      Buffer.from(new BinaryWriter().tag(3, WireType.LengthDelimited).bytes(any).finish()),
    )
    const fails = (): never => {
      throw grpcError(3, 'bad', metadata)
    }
    const { address } = await backend({ 'c.proto': PROTO }, { 'c.S/Get': fails })
    const details = async (exposeErrors: boolean | 'caller'): Promise<unknown> =>
      (
        await run(
          yogaWith(await source({ protoText: { 'c.proto': PROTO }, endpoint: address, exposeErrors })),
          '{ get { text } }',
        )
      ).errors[0].extensions.grpc.details
    expect(await details(true)).toEqual([
      { '@type': 'google.rpc.BadRequest', fieldViolations: [{ field: 'email', description: 'taken' }] },
    ])
    expect(await details('caller')).toBeUndefined()
    expect(await details(false)).toBeUndefined()
  })
})

describeTransports('metadata', (source) => {
  it('forwards the allowed headers and no others', async () => {
    const { address, calls } = await backend({ 'c.proto': PROTO }, ok)
    const yoga = yogaWith(await source({ protoText: { 'c.proto': PROTO }, endpoint: address }))
    await run(yoga, '{ get { text } }', {
      headers: { authorization: 'Bearer a', 'x-request-id': 'r1', cookie: 'c=1', 'x-other': 'o' },
    })
    expect(calls[0]?.metadata).toMatchObject({ authorization: ['Bearer a'], 'x-request-id': ['r1'] })
    expect(Object.keys(calls[0]?.metadata ?? {})).not.toEqual(expect.arrayContaining(['cookie']))
    expect(calls[0]?.metadata).not.toHaveProperty('x-other')
  })

  it('sends a header once that is named twice', async () => {
    const { address, calls } = await backend({ 'c.proto': PROTO }, ok)
    const forwardHeaders = ['x-user', 'X-User']
    const grpc = await source({ protoText: { 'c.proto': PROTO }, endpoint: address, forwardHeaders })
    await run(yogaWith(grpc), '{ get { text } }', { headers: { 'x-user': 'ada' } })
    expect(calls[0]?.metadata['x-user']).toEqual(['ada'])
  })

  it('sends what a client sends in place of what is fixed, as REST connectors do', async () => {
    const { address, calls } = await backend({ 'c.proto': PROTO }, ok)
    const grpc = await source({
      protoText: { 'c.proto': PROTO },
      endpoint: address,
      forwardHeaders: ['x-user'],
      metadata: { static: { 'X-User': 'nobody', 'x-team': 'a' } },
    })
    const yoga = yogaWith(grpc)
    await run(yoga, '{ get { text } }', { headers: { 'x-user': 'ada' } })
    await run(yoga, '{ get { text } }')
    expect(calls.map(({ metadata }) => [metadata['x-user'], metadata['x-team']])).toEqual([
      [['ada'], ['a']],
      [['nobody'], ['a']],
    ])
  })

  it.each([
    ['CR/LF', 'a\r\nx-admin: 1'],
    ['non-ASCII', 'ü'],
  ])('%s in a value is BAD_USER_INPUT and no call', async (_what, value) => {
    const { address, calls } = await backend({ 'c.proto': PROTO }, ok)
    const yoga = yogaWith(
      await source({
        protoText: { 'c.proto': PROTO },
        endpoint: address,
        metadata: { fromContext: () => ({ 'x-user': value }) },
      }),
    )
    expect((await run(yoga, '{ get { text } }')).errors[0].extensions.code).toBe('BAD_USER_INPUT')
    expect(calls).toHaveLength(0)
  })

  it('sends static and computed values and bytes, computed once an operation', async () => {
    const { address, calls } = await backend({ 'c.proto': PROTO }, ok)
    let computed = 0
    const grpc = await source({
      protoText: { 'c.proto': PROTO },
      endpoint: address,
      metadata: {
        static: { 'x-app': 'shop', 'x-key-bin': Uint8Array.of(1, 255) },
        fromContext: async () => ({ 'x-count': String(++computed), 'x-app': 'own' }),
      },
    })
    await run(yogaWith(grpc), '{ a: get(id: "1") { text } b: get(id: "2") { text } }')
    expect(
      calls.map(({ metadata }) => [metadata['x-app'], metadata['x-count'], metadata['x-key-bin']]),
    ).toEqual([
      [['own'], ['1'], [Buffer.of(1, 255)]],
      [['own'], ['1'], [Buffer.of(1, 255)]],
    ])
  })

  it('refuses a static value that belongs to the connection', async () => {
    await expect(
      source({
        protoText: { 'c.proto': PROTO },
        endpoint: 'x:1',
        metadata: { static: { Connection: 'close' } },
      }),
    ).rejects.toThrow('"Connection" cannot be sent as metadata')
  })
})

describeTransports('sharing', (source) => {
  const query = '{ a: get(id: "1") { text } b: get(id: "1") { text } c: get(id: "2") { text } }'

  it('identical calls of a query are one RPC, of a mutation they are not', async () => {
    const { address, callsOf } = await backend({ 'c.proto': PROTO }, ok)
    const yoga = yogaWith(await source({ protoText: { 'c.proto': PROTO }, endpoint: address }))
    await run(yoga, query)
    expect(callsOf('c.S/Get')).toHaveLength(2)
    await run(yoga, query)
    expect(callsOf('c.S/Get')).toHaveLength(4)
    await run(yoga, 'mutation { a: put(id: "1") { text } b: put(id: "1") { text } }')
    expect(callsOf('c.S/Put')).toHaveLength(2)
  })

  it('dedupe: false sends each', async () => {
    const { address, calls } = await backend({ 'c.proto': PROTO }, ok)
    await run(
      yogaWith(await source({ protoText: { 'c.proto': PROTO }, endpoint: address, dedupe: false })),
      query,
    )
    expect(calls).toHaveLength(3)
  })

  it("dedupe: 'inflight' shares between requests of one user, never between two", async () => {
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    const { address, calls } = await backend(
      { 'c.proto': PROTO },
      {
        'c.S/Get': async () => {
          await gate
          return { text: 'x' }
        },
      },
    )
    const yoga = yogaWith(
      await source({ protoText: { 'c.proto': PROTO }, endpoint: address, dedupe: 'inflight' }),
    )
    let requests = 0
    const ask = (user: string): Promise<unknown> => {
      const traceparent = `00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333${requests++}-01`
      return run(yoga, '{ get(id: "1") { text } }', { headers: { authorization: user, traceparent } })
    }
    const answers = [ask('a'), ask('a'), ask('b')]
    await waitUntil(() => calls.length === 2)
    release()
    expect(await Promise.all(answers)).toEqual(
      Array.from({ length: 3 }, () => ({ data: { get: { text: 'x' } } })),
    )
    expect(calls.map(({ metadata }) => metadata['authorization'])).toEqual([['a'], ['b']])
  })

  it("dedupe: 'inflight' cancels when the last caller left, not before", async () => {
    const { address, calls } = await backend({ 'c.proto': PROTO }, { 'c.S/Get': () => new Promise(() => {}) })
    const grpc = await source({ protoText: { 'c.proto': PROTO }, endpoint: address, dedupe: 'inflight' })
    const info = { operation: { operation: 'query' }, rootValue: undefined, path: { key: 'get' } }
    const ask = grpc.schema.getQueryType()?.getFields()['get']?.resolve as (
      ...args: unknown[]
    ) => Promise<unknown>
    const aborts = [new AbortController(), new AbortController()]
    const results = aborts.map(({ signal }) =>
      (
        ask(undefined, {}, { request: { signal, headers: new Headers() } }, info as never) as Promise<unknown>
      ).catch((error: any) => error.extensions.code),
    )
    await new Promise((resolve) => setTimeout(resolve, 150))
    aborts[0]?.abort()
    expect(await results[0]).toBe('CANCELLED')
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(calls[0]?.cancelledAt).toBeUndefined()
    aborts[1]?.abort()
    expect(await results[1]).toBe('CANCELLED')
    await expect.poll(() => calls[0]?.cancelledAt).toBeDefined()
    expect(calls).toHaveLength(1)
  })
})

describeTransports('deadlines', (source) => {
  it('shrink with the age of the operation', async () => {
    const clock = createFakeClock({ startAt: Date.now() })
    const { address, calls } = await backend({ 'c.proto': PROTO }, ok)
    const grpc = await source({
      protoText: { 'c.proto': PROTO },
      endpoint: address,
      timeoutMs: 10_000,
      clock,
      methods: { 'c.S.Put': { timeoutMs: 2_000 } },
    })
    const slow = { onExecute: () => void clock.advance(0) }
    const yoga = yogaWith(grpc, {
      plugins: [
        slow,
        {
          async onContextBuilding() {
            await clock.advance(4_000)
          },
        },
      ],
    })
    await run(yoga, '{ get { text } }')
    expect(calls[0]?.timeLeftMs).toBeLessThanOrEqual(6_000)
    expect(calls[0]?.timeLeftMs).toBeGreaterThan(4_000)
    expect((await run(yoga, 'mutation { put { text } }')).errors[0].extensions.code).toBe('TIMEOUT')
    expect(calls).toHaveLength(1)
  })

  it('can be turned off', async () => {
    const { address, calls } = await backend({ 'c.proto': PROTO }, ok)
    await (await source({ protoText: { 'c.proto': PROTO }, endpoint: address, timeoutMs: 0 })).call('c.S.Get')
    expect(calls[0]?.timeLeftMs).toBeUndefined()
  })
})

describeTransports('source.call', (source) => {
  it('takes the types and codecs of generated code', async () => {
    const { address } = await backend(
      { 'c.proto': PROTO },
      { 'c.S/Get': ({ id }) => ({ text: `for ${id}` }) },
    )
    const grpc = await source({ protoText: { 'c.proto': PROTO }, endpoint: address })
    const method = {
      path: '/c.S/Get',
      requestSerialize: (request: { id: string }) =>
        new BinaryWriter().tag(1, WireType.LengthDelimited).string(request.id).finish(),
      responseDeserialize: (bytes: Buffer) => ({ generated: bytes.subarray(2).toString() }),
    }
    const reply: { generated: string } = await grpc.call(method, { id: '7' })
    expect(reply).toEqual({ generated: 'for 7' })
    await expect(grpc.call({ ...method, path: '/c.S/Nope' }, { id: '7' })).rejects.toThrow(
      'has no method "/c.S/Nope"',
    )
  })

  it('is cancelled by its signal and sends its metadata', async () => {
    const { address, calls } = await backend({ 'c.proto': PROTO }, { 'c.S/Get': () => new Promise(() => {}) })
    const grpc = await source({ protoText: { 'c.proto': PROTO }, endpoint: address })
    const abort = new AbortController()
    const result = grpc.call('c.S.Get', {}, { signal: abort.signal, metadata: { 'X-Own': 'v' } })
    await expect.poll(() => calls.length).toBe(1)
    abort.abort()
    await expect(result).rejects.toMatchObject({ extensions: { code: 'CANCELLED' } })
    expect(calls[0]?.metadata['x-own']).toEqual(['v'])
    await expect.poll(() => calls[0]?.cancelledAt).toBeDefined()
    await expect(grpc.call('c.S.Nope')).rejects.toThrow('has no method "c.S.Nope"')
  })

  it('hangs one listener on the signal of many calls, and cancels them all', async () => {
    const { address, calls } = await backend({ 'c.proto': PROTO }, { 'c.S/Get': () => new Promise(() => {}) })
    const grpc = await source({ protoText: { 'c.proto': PROTO }, endpoint: address })
    const abort = new AbortController()
    const { signal } = abort
    const results = Array.from({ length: 12 }, (_, id) =>
      grpc
        .call('c.S.Get', { id: String(id) }, { signal })
        .catch((error: GraphQLError) => error.extensions['code']),
    )
    await expect.poll(() => calls.length).toBe(12)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    abort.abort()
    expect(new Set(await Promise.all(results))).toEqual(new Set(['CANCELLED']))
    await expect.poll(() => calls.every(({ cancelledAt }) => cancelledAt !== undefined)).toBe(true)
  })
})

describeTransports('observation', (source) => {
  it('tells of each call, its status, attempts and time; an observer that throws harms nothing', async () => {
    const { address } = await backend(
      { 'c.proto': PROTO },
      {
        'c.S/Get': ({ id }) => {
          if (id === 'x') throw grpcError(5, 'no')
          return {}
        },
      },
    )
    const seen: unknown[] = []
    const grpc = await source({
      protoText: { 'c.proto': PROTO },
      endpoint: address,
      observe:
        ({ service, method, kind }) =>
        ({ status, attempts, durationMs, callerLeft }) => {
          seen.push([service, method, kind, status, attempts, durationMs >= 0, callerLeft])
          throw new Error('observer')
        },
    })
    await grpc.call('c.S.Get')
    await grpc.call('c.S.Get', { id: 'x' }).catch(() => {})
    expect(seen).toEqual([
      ['c.S', 'Get', 'unary', 'OK', 1, true, false],
      ['c.S', 'Get', 'unary', 'NOT_FOUND', 1, true, false],
    ])
  })
})

describeTransports('TLS', (source) => {
  it('speaks TLS with a custom authority, and mTLS, by service', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'grpc-tls-'))
    disposables().use(() => rmSync(folder, { recursive: true }))
    const made = makeCertificate(folder, 'DNS:backend.test')
    const [key, cert] = [Buffer.from(made.key), Buffer.from(made.cert)]
    const credentials = ServerCredentials.createSsl(cert, [{ private_key: key, cert_chain: cert }], true)
    const { address } = await backend({ 'c.proto': PROTO }, ok, { credentials })
    const trusted = { ca: cert, cert, key, serverName: 'backend.test' }
    const secure = await source({
      protoText: { 'c.proto': PROTO },
      endpoint: 'nowhere:1',
      endpoints: { 'c.S': { address, tls: trusted } },
    })
    expect(await secure.call('c.S.Get')).toEqual({ text: 'x' })
    const anonymous = await source({
      protoText: { 'c.proto': PROTO },
      endpoint: { address, tls: { ca: cert, serverName: 'backend.test' } },
      timeoutMs: 1_000,
      retry: { maxRetries: 0 },
    })
    await expect(anonymous.call('c.S.Get')).rejects.toThrow(/unavailable|in time/)
    const plain = await source({
      protoText: { 'c.proto': PROTO },
      endpoint: address,
      timeoutMs: 1_000,
      retry: { maxRetries: 0 },
    })
    await expect(plain.call('c.S.Get')).rejects.toThrow(/unavailable|in time/)
  })
})
