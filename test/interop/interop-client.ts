import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createFileRegistry,
  create,
  fromBinary,
  toBinary,
  type DescMessage,
  type FileRegistry,
  type Message,
} from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import type { MetadataEntries, Transport } from '@vinyasa/grpc-transport'
import { PROTO_PATH } from './interop-servers.ts'

/** The messages of `grpc/testing/test.proto`, as protoc has them. */
export function readMessages(folder: string): FileRegistry {
  const set = join(folder, 'test.binpb')
  execFileSync('protoc', [
    `-I${PROTO_PATH}`,
    '--include_imports',
    `--descriptor_set_out=${set}`,
    'grpc/testing/test.proto',
  ])
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(set)))
}

export type Init = Readonly<Record<string, unknown>>
type Reply = Message & Readonly<Record<string, any>>

export interface CallOptions {
  readonly service?: string
  readonly metadata?: MetadataEntries
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** What a case sees of a call that has ended. */
export interface Metadata {
  headers: MetadataEntries
  trailers: MetadataEntries
}

/** Calls methods of the test service with messages in place of bytes. */
export interface InteropClient {
  unary(method: string, request: Init, options?: CallOptions): Promise<Reply & { metadata: Metadata }>
  stream(
    method: string,
    requests: Iterable<Init> | AsyncIterable<Init>,
    options?: CallOptions,
  ): AsyncIterableIterator<Reply> & { readonly metadata: Metadata }
}

export function createInteropClient(transport: Transport, messages: FileRegistry): InteropClient {
  function prepare(method: string, options: CallOptions) {
    const { service = 'grpc.testing.TestService', metadata = [], timeoutMs = 30_000, signal } = options
    const desc = messages.getService(service)?.methods.find(({ name }) => name === method)
    if (!desc) throw new Error(`no method ${service}/${method}`)
    const seen: Metadata = { headers: [], trailers: [] }
    const call = {
      path: `/${service}/${method}`,
      metadata,
      timeoutMs,
      signal,
      onHeaders: (headers: MetadataEntries) => void (seen.headers = headers),
      onTrailers: (trailers: MetadataEntries) => void (seen.trailers = trailers),
    }
    return { desc, seen, call }
  }
  const encode = (type: DescMessage, init: Init): Uint8Array => toBinary(type, create(type, init as never))

  return {
    async unary(method, request, options = {}) {
      const { desc, seen, call } = prepare(method, options)
      const bytes = await transport.unary(call, encode(desc.input, request))
      return Object.assign(fromBinary(desc.output, bytes), { metadata: seen })
    },
    stream(method, requests, options = {}) {
      const { desc, seen, call } = prepare(method, options)
      async function* encoded(): AsyncGenerator<Uint8Array> {
        for await (const request of requests) yield encode(desc.input, request)
      }
      const replies = transport.stream(call, encoded())
      return {
        metadata: seen,
        async next() {
          const { done, value } = await replies.next()
          return done ? { done, value: undefined } : { done: false, value: fromBinary(desc.output, value) }
        },
        async return() {
          await replies.return?.()
          return { done: true, value: undefined }
        },
        [Symbol.asyncIterator]() {
          return this
        },
      }
    },
  }
}
