import { fileURLToPath } from 'node:url'
import { credentials, loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

// On grpc-js and proto-loader, or on fetch.
type Resolve = (_root: unknown, args: object) => Promise<unknown>

type Resolvers = Record<'product' | 'products' | 'updateProduct', Resolve>

function overGrpc(address: string): Resolvers {
  const definition = loadSync(fileURLToPath(new URL('catalog.proto', import.meta.url)))
  const { bench } = loadPackageDefinition(definition) as unknown as {
    bench: { v1: { CatalogService: ServiceClientConstructor } }
  }
  const client = new bench.v1.CatalogService(address, credentials.createInsecure())
  const call =
    (method: string): Resolve =>
    (_root, args) =>
      new Promise((resolve, reject) => {
        client[method]?.(args, (error: Error | null, reply: unknown) =>
          error ? reject(error) : resolve(reply),
        )
      })
  return {
    product: call('GetProduct'),
    products: call('ListProducts'),
    updateProduct: call('UpdateProduct'),
  }
}

function overRest(base: string): Resolvers {
  const get = async (path: string): Promise<unknown> => (await fetch(`${base}${path}`)).json()
  const one: Resolve = (_root, args) => get(`/products/${encodeURIComponent((args as { id: string }).id)}`)
  return {
    product: one,
    updateProduct: one,
    products: (_root, args) => get(`/products?limit=${(args as { limit: number }).limit}`),
  }
}

const grpc = process.env['BENCH_GRPC_URL']
const { updateProduct, ...Query } = grpc ? overGrpc(grpc) : overRest(process.env['BENCH_REST_URL'] ?? '')

export const resolvers: Readonly<Record<'Query' | 'Mutation', Readonly<Record<string, Resolve>>>> = {
  Query,
  Mutation: { updateProduct },
}
