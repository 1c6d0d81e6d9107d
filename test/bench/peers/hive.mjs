// Hive Gateway with Mesh's handlers, on a supergraph that is composed at the start. Plain JavaScript, as the loader that
// runs TypeScript here and packages of Hive's do not go together.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { createGatewayRuntime } from '@graphql-hive/gateway'
import { getComposedSchemaFromConfig } from '@graphql-mesh/compose-cli'
import { loadGrpcSubgraph } from '@omnigraph/grpc'
import { loadJSONSchemaSubgraph } from '@omnigraph/json-schema'

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

// What the benchmark asks of a program: see src/serve-program.ts.
const server = createServer(gateway)
server.listen(0, '127.0.0.1', () => {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send({ cpuMicros: user + system, rssBytes: process.memoryUsage.rss() })
  })
  process.on('disconnect', () => process.exit(0))
  const names = ['@graphql-hive/gateway', grpc ? '@omnigraph/grpc' : '@omnigraph/json-schema', 'graphql']
  const versions = Object.fromEntries(
    names.map((name) => {
      const file = new URL(`node_modules/${name}/package.json`, import.meta.url)
      return [name, JSON.parse(readFileSync(file, 'utf8')).version]
    }),
  )
  process.send({ url: `http://127.0.0.1:${server.address().port}`, versions })
})
