import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { createGrpcSource, useGrpcSource } from '@vinyasa/grpc-source'
import { createNodeHandler } from '@vinyasa/node-handler'
import { usePipeline } from '@vinyasa/core/pipeline'
import { createRestConnector, field, useRestConnector } from '@vinyasa/rest-connector'
import { createYoga, type Plugin } from 'graphql-yoga'
import { serveProgram } from '../src/serve-program.ts'
import { versionsOf } from '../src/versions.ts'

async function overGrpc(endpoint: string): Promise<Plugin> {
  const source = await createGrpcSource({
    name: 'catalog',
    protoFiles: [fileURLToPath(new URL('catalog.proto', import.meta.url))],
    endpoint,
    methods: {
      'bench.v1.CatalogService.GetProduct': { schema: { type: 'QUERY', name: 'product' } },
      'bench.v1.CatalogService.ListProducts': { schema: { type: 'QUERY', name: 'products' } },
    },
  })
  return useGrpcSource(source) as Plugin
}

function overRest(baseUrl: string): Plugin {
  const Product = {
    typeName: 'Product',
    fields: {
      id: field.string.required,
      name: field.string,
      description: field.string,
      brand: field.string,
      price: field.float,
      stock: field.int,
      active: field.boolean,
      rating: field.float,
      reviews: field.int,
      updated: field.string,
    },
  }
  const connector = createRestConnector('catalog', {
    baseUrl,
    cacheSize: 0,
    endpoints: [
      { name: 'product', path: '/products/{id}', args: { id: 'String!' }, responseSchema: Product },
      {
        name: 'products',
        path: '/products',
        args: { limit: 'Int' },
        queryParams: { limit: '{limit}' },
        responseSchema: {
          typeName: 'ProductList',
          fields: { items: field.list(field.object('Product', Product.fields)) },
        },
      },
    ],
  })
  return useRestConnector(connector) as Plugin
}

const grpc = process.env['BENCH_GRPC_URL']
const rest = process.env['BENCH_REST_URL']
const source = grpc ? await overGrpc(grpc) : overRest(rest ?? '')
const behaviour = process.env['BENCH_SHORT_WAY'] ? [usePipeline()] : []
const yoga = createYoga({ plugins: [source, ...behaviour] })
const thin = process.env['BENCH_DOOR'] === 'node-handler'
serveProgram(
  createServer(thin ? createNodeHandler(yoga) : yoga),
  versionsOf(['graphql-yoga', 'graphql'], import.meta.url),
)
