import {
  createDisposables,
  startGrpcBackend,
  type Disposables,
  type GrpcBackend,
  type GrpcBackendOptions,
  type GrpcHandler,
  type ProtoFiles,
} from '@vinyasa/test-kit'
import { createYoga, type YogaServerInstance } from 'graphql-yoga'
import { describe, onTestFinished } from 'vitest'
import { createGrpcSource, useGrpcSource, type GrpcSource, type GrpcSourceOptions } from '../src/index.ts'
import { GRAPHQL_PROTO } from './graphql-proto.ts'

export type Yoga = YogaServerInstance<object, object>

export function disposables(): Disposables {
  return createDisposables(onTestFinished)
}

/** A real server for the protos, ended with the test. */
export async function backend(
  protos: ProtoFiles,
  handlers: Readonly<Record<string, GrpcHandler>>,
  options: Partial<GrpcBackendOptions> = {},
): Promise<GrpcBackend> {
  return disposables().use(
    await startGrpcBackend({ protos: { 'graphql.proto': GRAPHQL_PROTO, ...protos }, handlers, ...options }),
  )
}

/** A source, ended with the test. */
export async function source(options: Partial<GrpcSourceOptions>): Promise<GrpcSource> {
  return disposables().use(
    await createGrpcSource({ name: 'test', logger: { warn() {}, error() {} }, ...options }),
  )
}

/** The same tests over every transport; `source` makes sources that use it. */
export function describeTransports(name: string, body: (open: typeof source) => void): void {
  describe.each(['http2', 'grpc-js'] as const)(`${name}, over %s`, (transport) => {
    body((options) => source({ transport, ...options }))
  })
}

export function yogaWith(grpc: GrpcSource, options: Parameters<typeof createYoga>[0] = {}): Yoga {
  return createYoga({
    logging: false,
    ...options,
    plugins: [useGrpcSource(grpc), ...(options.plugins ?? [])],
  })
}

export async function run(
  yoga: Yoga,
  query: string,
  options: { variables?: object; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<any> {
  const { variables, headers, signal } = options
  const response = await yoga.fetch('http://test/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
    ...(signal ? { signal } : {}),
  })
  return response.json()
}
