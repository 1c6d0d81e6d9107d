// Hive Gateway with Mesh's handlers, on a supergraph that is composed at the start. Plain JavaScript, as the loader that
// runs TypeScript here and packages of Hive's do not go together.
import { fileURLToPath } from 'node:url'
import { createGatewayRuntime } from '@graphql-hive/gateway'
import { getComposedSchemaFromConfig } from '@graphql-mesh/compose-cli'
import { loadGrpcSubgraph } from '@omnigraph/grpc'
import { loadJSONSchemaSubgraph } from '@omnigraph/json-schema'
import { serveProgram } from './serve-program.mjs'

const product = {
  type: 'object',
  title: 'Product',
  required: ['id'],
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    description: { type: 'string' },
    brand: { type: 'string' },
    price: { type: 'number' },
    stock: { type: 'integer' },
    active: { type: 'boolean' },
    rating: { type: 'number' },
    reviews: { type: 'integer' },
    updated: { type: 'string' },
  },
}

function overRest(endpoint) {
  const operation = (field, path, argument, responseSchema) => ({
    type: 'Query',
    field,
    path,
    method: 'GET',
    argTypeMap: argument,
    responseSchema,
  })
  return loadJSONSchemaSubgraph('catalog', {
    endpoint,
    operations: [
      operation('product', '/products/{args.id}', { id: { type: 'string' } }, product),
      operation(
        'products',
        '/products?limit={args.limit}',
        { limit: { type: 'integer' } },
        {
          type: 'object',
          title: 'ProductList',
          properties: { items: { type: 'array', items: product } },
        },
      ),
    ],
  })
}

function overGrpc(endpoint) {
  const source = fileURLToPath(new URL('../contenders/catalog.proto', import.meta.url))
  return loadGrpcSubgraph('catalog', { endpoint, source })
}

const silent = Object.fromEntries(['log', 'debug', 'info', 'warn', 'error'].map((level) => [level, () => {}]))
silent.child = () => silent

const grpc = process.env.BENCH_GRPC_URL
const subgraph = grpc ? overGrpc(grpc) : overRest(process.env.BENCH_REST_URL ?? '')
const supergraph = await getComposedSchemaFromConfig({ subgraphs: [{ sourceHandler: subgraph }] }, silent)
const gateway = createGatewayRuntime({ supergraph, logging: false })

serveProgram(gateway, [
  '@graphql-hive/gateway',
  grpc ? '@omnigraph/grpc' : '@omnigraph/json-schema',
  'graphql',
])
