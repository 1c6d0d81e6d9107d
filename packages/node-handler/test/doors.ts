import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { createDisposables } from '@vinyasa/test-kit'
import { createSchema, createYoga, type YogaServerOptions } from 'graphql-yoga'
import { onTestFinished } from 'vitest'
import { createNodeHandler, type NodeHandler } from '../src/index.ts'

export type YogaOptions = YogaServerOptions<Record<string, any>, Record<string, any>>

export const typeDefs = /* GraphQL */ `
  type Query {
    hello(name: String): String
    slow: String
    fails: String
    failsTyped: String
    required: String!
    big: String
    header(name: String!): String
    http(status: Int!): String
    me: String
  }
  type Mutation {
    bump: Int
  }
  type Subscription {
    count(to: Int!): Int
  }
`

export interface Doors {
  readonly yoga: string
  readonly thin: string
  readonly handler: NodeHandler
}

/** One Yoga server behind each door, built alike: `options` is called once for each. */
export async function openDoors(options: () => YogaOptions = () => ({})): Promise<Doors> {
  const closing = createDisposables(onTestFinished)
  async function listen(listener: (...args: any[]) => unknown): Promise<string> {
    const server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.use(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const handler = createNodeHandler(buildYoga(options()))
  return { yoga: await listen(buildYoga(options())), thin: await listen(handler), handler }
}

export function buildYoga(options: YogaOptions = {}): ReturnType<typeof createYoga<any, any>> {
  return createYoga<any, any>({
    logging: false,
    schema: createSchema<any>({
      typeDefs,
      resolvers: {
        Query: {
          hello: (_root, { name }: { name?: string }) => `hello ${name ?? 'world'}`,
          slow: async () => {
            await new Promise((resolve) => setTimeout(resolve, 1))
            return 'slow'
          },
          fails: () => {
            throw new Error('a secret')
          },
          failsTyped: () => {
            throw Object.assign(new Error('typed'), { extensions: { code: 'MINE' } })
          },
          required: () => null,
          big: () => 'ü'.repeat(300_000),
          header: (_root, { name }: { name: string }, { request }) => request.headers.get(name),
          http: async (_root, { status }: { status: number }) => {
            const { createGraphQLError } = await import('graphql-yoga')
            throw createGraphQLError('teapot', {
              extensions: { http: { status, headers: { 'x-tea': 'green' } } },
            })
          },
          me: (_root, _args, { jwt }) => jwt?.payload.sub,
        },
        Mutation: { bump: () => 1 },
        Subscription: {
          count: {
            async *subscribe(_root: unknown, { to }: { to: number }) {
              for (let count = 1; count <= to; count++) yield { count }
            },
          },
        },
      },
    }),
    ...options,
  })
}

export interface RawRequest {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: string | Buffer
  /** Sends the body in chunks of this many bytes. */
  readonly chunked?: number
}

/** The bytes of a request; `undefined` takes a header away. */
export function bytesOf(request: RawRequest, last = true): Buffer {
  const { method = 'POST', path = '/graphql', headers = {}, chunked } = request
  const body = Buffer.from(request.body ?? '')
  const all: Record<string, string | undefined> = {
    host: 'door.test',
    'content-type': 'application/json',
    accept: 'application/json',
    ...(chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(body.length) }),
    ...(last ? { connection: 'close' } : {}),
    ...headers,
  }
  const head = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  )
  const payload: Buffer[] = []
  if (chunked) {
    for (let at = 0; at < body.length; at += chunked) {
      const chunk = body.subarray(at, at + chunked)
      payload.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'))
    }
    payload.push(Buffer.from('0\r\n\r\n'))
  } else {
    payload.push(body)
  }
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`),
    ...payload,
  ])
}

/** Sends bytes and gives back everything that arrives until the server closes; dates are made alike. */
export async function exchange(url: string, bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  await new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      // A stream of events asks to be kept alive, whatever the client said.
      if (chunk.toString('latin1').endsWith('0\r\n\r\n')) socket.end()
    })
    socket.once('error', reject)
    socket.once('close', () => resolve())
    socket.write(bytes)
  })
  return Buffer.concat(chunks)
    .toString('latin1')
    .replaceAll(/^date: .*$/gim, 'Date: some day')
    .replaceAll(/^last-modified: .*$/gim, 'Last-Modified: some day')
}

export async function bothAnswer(
  doors: Doors,
  request: RawRequest,
): Promise<{ readonly yoga: string; readonly thin: string }> {
  const bytes = bytesOf(request)
  return { yoga: await exchange(doors.yoga, bytes), thin: await exchange(doors.thin, bytes) }
}

/** A GET with these parameters. */
export const get = (
  parameters: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string | undefined>> = {},
): RawRequest => ({
  method: 'GET',
  path: `/graphql?${new URLSearchParams(parameters)}`,
  headers: { 'content-type': undefined, 'content-length': undefined, ...headers },
})

export const graphql = (query: string, more: object = {}): string => JSON.stringify({ query, ...more })
