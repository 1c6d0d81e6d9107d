import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { createNodeHandler } from '@vinyasa/node-handler'
import { countShortRuns } from '../../packages/node-handler/test/short-runs.ts'
import { type Behaviour, type ResponseHead, usePipeline, withBehaviour } from '@vinyasa/core/pipeline'
import { createDisposables } from '@vinyasa/test-kit'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { expect, onTestFinished } from 'vitest'

const typeDefs = /* GraphQL */ `
  type Query {
    fast: String
    late(turns: Int): String
    never: String
    fails(turns: Int): String
    required: String!
    lateRequired: String!
    big(letters: Int!): String
    item: Item
    items: [Item!]!
  }
  type Item {
    id: ID!
    price: Int
    fails: String!
    item: Item
    late(turns: Int): String
  }
  type Mutation {
    change: Item
  }
`

export async function inTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}

interface Context {
  readonly signal?: AbortSignal
  readonly request: Request
}

/** Of the server behind one door. */
interface Seen {
  /** Calls of `never` that were told that the client has left. */
  left: number
  readonly parts: unknown[]
  /** Requests that were answered on the prepared path. */
  /** Operations that node-handler executed directly. */
  short: readonly unknown[]
}

/** @param marks Whether a plugin looks at the head of answers, and adds to it. */
function build(seen: Seen, marks: boolean, plugins: readonly Plugin[]) {
  const item = (id: string): object => ({
    id,
    price: Number(id),
    item: () => item(`${id}0`),
    late: async ({ turns = 3 }: { readonly turns?: number }) => {
      await inTurns(turns ?? 0)
      return `late ${id}`
    },
    fails: () => {
      throw new Error('a secret')
    },
  })
  const part: Behaviour = {
    onPart: (_call, given) => void seen.parts.push(given),
  }
  const onResponse = ({ response }: { readonly response: Pick<ResponseHead, 'headers'> }): void => {
    response.headers.append('Vary', 'X-Mark')
    response.headers.set('X-Mark', `${response.headers.get('content-type')}`)
  }
  const mark = withBehaviour({}, { respond: (_exchange, response) => onResponse({ response }) })
  const runs = countShortRuns()
  seen.short = runs.calls
  return createYoga({
    logging: false,
    schema: createSchema({
      typeDefs,
      resolvers: {
        Query: {
          fast: () => 'fast "ü"',
          late: async (_root: unknown, { turns }: { readonly turns?: number | null }) => {
            await inTurns(turns ?? 3)
            return 'late'
          },
          never: (_root: unknown, _args: unknown, { signal, request }: Context) =>
            new Promise((resolve) => {
              ;(signal ?? request.signal).addEventListener('abort', () => {
                seen.left++
                resolve(null)
              })
            }),
          fails: async (_root: unknown, { turns }: { readonly turns?: number | null }) => {
            await inTurns(turns ?? 0)
            throw new Error('a secret')
          },
          required: () => null,
          lateRequired: async () => inTurns(2).then(() => null),
          big: (_root: unknown, { letters }: { readonly letters: number }) => 'ü'.repeat(letters),
          item: () => item('1'),
          items: () => ['1', '2', '3'].map(item),
        },
        Mutation: { change: () => item('7') },
      },
    }),
    plugins: [
      runs.plugin,
      ...plugins,
      useDeferSplitter({ maxDeferredFragments: 4 }),
      { behaviour: part } as Plugin,
      ...(marks ? [mark] : []),
    ],
  })
}

export interface Doors {
  readonly yoga: string
  readonly thin: string
  readonly behindYoga: Seen
  readonly behindThin: Seen
}

export async function openDoors(marks = true): Promise<Doors> {
  const closing = createDisposables(onTestFinished)
  async function listen(listener: (...args: any[]) => unknown): Promise<string> {
    const server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.use(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    return String((server.address() as AddressInfo).port)
  }
  const behindYoga: Seen = { left: 0, parts: [], short: [] }
  const behindThin: Seen = { left: 0, parts: [], short: [] }
  const handler = createNodeHandler(build(behindThin, marks, [usePipeline({ liftLiterals: true })]))
  expect(handler.uncachedReasons).toEqual([])
  return {
    yoga: await listen(build(behindYoga, marks, [])),
    thin: await listen(handler),
    behindYoga,
    behindThin,
  }
}

export const ACCEPTS = [
  'multipart/mixed',
  'multipart/mixed;deferSpec=20220824, application/json',
  'multipart/mixed; incrementalSpec=v0.2, application/json',
  'multipart/mixed;incrementalSpec=v0.2;q=0.5, multipart/mixed;deferSpec=20220824;q=0.9, */*;q=0.1',
  'multipart/mixed;q=0.9, application/graphql-response+json;q=0.9',
  'multipart/mixed;q=0.5, application/json;q=0.6',
  'multipart/mixed;q=0, application/json',
  'multipart/mixed;deferSpec=20991231',
  'multipart/mixed, text/html',
  'application/graphql-response+json, application/json;q=0.9',
  '*/*',
] as const
export type Accept = (typeof ACCEPTS)[number]

export interface Asked {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>>
  readonly operationName?: string
}

interface Sending {
  readonly accept?: Accept
  readonly method?: 'POST' | 'GET' | 'HEAD'
  /** Default `/graphql`. */
  readonly path?: string
  readonly version?: '1.0' | '1.1'
  readonly keepAlive?: boolean
}

export function bytesOf(
  asked: Asked,
  { accept, method = 'POST', path = '/graphql', version = '1.1', keepAlive }: Sending,
): Buffer {
  const { query, variables, operationName } = asked
  const body = method === 'POST' ? Buffer.from(JSON.stringify(asked)) : Buffer.alloc(0)
  const parameters = new URLSearchParams({
    query,
    ...(variables && { variables: JSON.stringify(variables) }),
    ...(operationName !== undefined && { operationName }),
  })
  const head = [
    `${method} ${path}${method === 'POST' ? '' : `?${parameters}`} HTTP/${version}`,
    'host: door.test',
    ...(accept === undefined ? [] : [`accept: ${accept}`]),
    ...(method === 'POST' ? ['content-type: application/json', `content-length: ${body.length}`] : []),
    ...(keepAlive ? [] : ['connection: close']),
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}

/** Everything that arrives until the server closes; dates are made alike. */
export async function exchange(port: string, bytes: Buffer): Promise<string> {
  const socket = connect(Number(port), '127.0.0.1')
  const chunks: Buffer[] = []
  await new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.once('error', reject)
    socket.once('close', () => resolve())
    socket.write(bytes)
  })
  return Buffer.concat(chunks)
    .toString('latin1')
    .replaceAll(/^date: .*$/gim, 'Date: some day')
}
