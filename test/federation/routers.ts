import { createRequire } from 'node:module'

// What is used of routers, which bring a graphql of their own.

interface Composition {
  composeServices(services: readonly { name: string; url: string; typeDefs: unknown }[]): {
    readonly supergraphSdl?: string
    readonly errors?: readonly Error[]
    readonly hints?: readonly { readonly message: string }[]
  }
}
interface ApolloGateway {
  load(): Promise<{ executor(request: object): Promise<{ data?: unknown; errors?: readonly Error[] }> }>
  stop(): Promise<void>
}
interface Gateways {
  readonly ApolloGateway: new (options: object) => ApolloGateway
  readonly RemoteGraphQLDataSource: new (options: { url: string }) => object
}
interface Hive {
  createGatewayRuntime(options: object): {
    fetch(url: string, init: object): Response | Promise<Response>
    [Symbol.asyncDispose](): PromiseLike<void>
  }
}
interface GraphQL {
  parse(text: string): unknown
}

const require = createRequire(import.meta.url)

export interface Subgraph {
  readonly name: string
  readonly url: string
}

export interface Router {
  ask(query: string, variables?: object): Promise<{ data?: unknown; errors?: readonly unknown[] }>
  stop(): Promise<void>
}

/** The SDL that a subgraph tells routers. */
export async function sdlOf({ url }: Subgraph): Promise<string> {
  const { data } = (await post(url, '{ _service { sdl } }')) as { data: { _service: { sdl: string } } }
  return data._service.sdl
}

/** Composes subgraphs as Apollo's tools do. @throws Error with what cannot be composed */
export async function compose(subgraphs: readonly Subgraph[]): Promise<string> {
  const { composeServices } = require('@apollo/composition') as Composition
  const { parse } = require('graphql') as GraphQL
  const services = await Promise.all(
    subgraphs.map(async (one) => ({ ...one, typeDefs: parse(await sdlOf(one)) })),
  )
  const { supergraphSdl, errors } = composeServices(services)
  if (supergraphSdl === undefined) throw new Error(errors?.map(({ message }) => message).join('\n'))
  return supergraphSdl
}

/** Apollo's router for Node, which asks the subgraphs over HTTP. */
export async function startApollo(supergraphSdl: string): Promise<Router> {
  const { ApolloGateway, RemoteGraphQLDataSource } = require('@apollo/gateway') as Gateways
  const { parse } = require('graphql') as GraphQL
  const silent = { debug() {}, info() {}, warn() {}, error() {} }
  const gateway = new ApolloGateway({
    supergraphSdl,
    logger: silent,
    buildService: ({ url }: { url: string }) => new RemoteGraphQLDataSource({ url }),
  })
  const { executor } = await gateway.load()
  return {
    ask: async (query, variables = {}) =>
      JSON.parse(
        JSON.stringify(
          await executor({
            document: parse(query),
            request: { query, variables },
            queryHash: query,
            operationName: null,
            context: {},
            metrics: {},
            logger: silent,
            cache: { get: async () => undefined, set: async () => {}, delete: async () => {} },
          }),
        ),
      ) as { data?: unknown },
    stop: () => gateway.stop(),
  }
}

/** The router of Hive, which asks the subgraphs over HTTP. */
export async function startHive(supergraph: string): Promise<Router> {
  const specifier = '@graphql-hive/gateway-runtime'
  const { createGatewayRuntime } = (await import(specifier)) as Hive
  const runtime = createGatewayRuntime({ supergraph, logging: false, maskedErrors: false })
  return {
    async ask(query, variables = {}) {
      const response = await runtime.fetch('http://hive/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
      })
      return (await response.json()) as { data?: unknown }
    },
    stop: async () => runtime[Symbol.asyncDispose](),
  }
}

/** Asks a server directly. */
export async function post(url: string, query: string, variables = {}): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  })
  return response.json()
}
