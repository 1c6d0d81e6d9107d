import { onTestFinished } from 'vitest'
import type { GatewayConfig } from '../../src/config/types.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { createLogger, type Logger } from '../../src/logging/logger.ts'
import { serve, type GatewayServer, type ServeOptions } from '../../src/server.ts'

export interface RunningGateway {
  readonly gateway: Gateway
  readonly server: GatewayServer
  /** `http://127.0.0.1:<port>/graphql` */
  readonly endpoint: string
}

export interface OpenOptions {
  /** Default: the root. */
  readonly baseDirectory?: string
  /** Default: one that says nothing. */
  readonly logger?: Logger
}

export interface StartOptions extends OpenOptions, ServeOptions {
  readonly logger?: Logger
}

/** A schema that needs no backend. */
export const OWN_SCHEMA: Pick<GatewayConfig, 'typeDefs' | 'resolvers' | 'dependencies'> = {
  typeDefs: /* GraphQL */ `
    enum Color {
      RED
      GREEN
    }
    type Item {
      id: ID!
      secretName: String
      item: Item
    }
    type Query {
      hello: String
      echo(text: String, color: Color): String
      item: Item
      fail: String
    }
    type Mutation {
      change(text: String): Boolean
      item: Item
    }
  `,
  resolvers: {
    Query: {
      hello: () => 'world',
      echo: (_: unknown, { text }: { text?: string }) => text,
      item: () => ({ id: 1, secretName: 'x', item: {} }),
      fail: () => {
        throw new Error('a detail of the inside')
      },
    },
    Mutation: {
      change: (_: unknown, { text }: { text?: string }) => {
        if (text === '') throw new Error('a detail of the inside')
        return true
      },
      item: () => ({ id: 2, item: {} }),
    },
  },
  dependencies: Object.fromEntries(
    ['hello', 'echo', 'item', 'fail'].map((name) => [`Query.${name}`, { variesBy: [] }]),
  ),
}

/** A gateway that listens nowhere, until the test ends. */
export async function openGateway(config: GatewayConfig, options: OpenOptions = {}): Promise<Gateway> {
  const { baseDirectory = '/', logger = await createLogger({ level: 'silent' }) } = options
  const gateway = await createGateway(config, { baseDirectory, logger })
  onTestFinished(() => gateway.close())
  return gateway
}

/** What a gateway that listens nowhere answers. */
export function fetchFrom(gateway: Gateway, query: string, variables: object = {}): Promise<Response> {
  return gateway.fetch(
    new Request('http://gateway/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    }),
  )
}

/** The same, read. */
export async function ask(gateway: Gateway, query: string, variables: object = {}): Promise<any> {
  return (await fetchFrom(gateway, query, variables)).json()
}

/** Serves a gateway on a free port until the test ends. */
export async function startGateway(
  config: GatewayConfig,
  options: StartOptions = {},
): Promise<RunningGateway> {
  const { baseDirectory = '/', logger = await createLogger({ level: 'silent' }), ...serveOptions } = options
  const gateway = await createGateway(config, { baseDirectory, logger })
  const server = await serve(gateway, { port: 0, logger, ...serveOptions })
  onTestFinished(() => server.close({ graceMs: 1 }))
  return { gateway, server, endpoint: `${server.url}/graphql` }
}

/** One POST of JSON. */
export function post(
  endpoint: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}
