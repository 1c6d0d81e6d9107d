// The config of the gateway before the four services: users and products by gRPC, reviews and inventory by REST.
import { fileURLToPath } from 'node:url'
import { field } from '@vinyasa/rest-connector'

const { BENCH_LOG: level = 'info', BENCH_GRPC_URL: grpc = '', BENCH_REST_URL: rest = '' } = process.env
const service = (method) => `bench.supply.v1.${method}`
const join = (name, method, keys, parentKey, itemKey) => ({
  type: 'Review',
  field: name,
  batch: { method: service(method), keys, items: 'items', parentKey, itemKey },
})

const { string } = field
const { required: id } = string
const review = { typeName: 'Review', fields: { id, body: string, authorId: string, productUpc: string } }
const stock = {
  typeName: 'Inventory',
  fields: { upc: string, inStock: field.boolean, shippingEstimate: field.int },
}

const lookup = (name, path, parameter, returnType, responseSchema, on) => ({
  name,
  path,
  args: { keys: '[String!]!' },
  queryParams: { [parameter]: '{keys}' },
  responseSchema,
  returnType,
  rootField: false,
  on,
})

const many = (key) => ({ key, many: true })

export default {
  log: { level },
  grpc: {
    shop: {
      protoFiles: [fileURLToPath(new URL('supply.proto', import.meta.url))],
      endpoint: grpc,
      methods: {
        [service('UserService.ListUsers')]: { schema: { type: 'QUERY', name: 'users' } },
        [service('ProductService.TopProducts')]: { schema: { type: 'QUERY', name: 'topProducts' } },
      },
      joins: [
        join('author', 'UserService.BatchGetUsers', 'ids', 'authorId', 'id'),
        join('product', 'ProductService.BatchGetProducts', 'upcs', 'productUpc', 'upc'),
      ],
    },
  },
  rest: {
    opinions: {
      baseUrl: rest,
      cacheSize: 0,
      endpoints: [
        lookup('reviewsByAuthors', '/reviews', 'authorId', '[Review!]!', review, {
          type: 'User',
          field: 'reviews',
          args: { keys: '{id}' },
          batch: many('authorId'),
        }),
        lookup('reviewsByProducts', '/reviews', 'productUpc', '[Review!]!', review, {
          type: 'Product',
          field: 'reviews',
          args: { keys: '{upc}' },
          batch: many('productUpc'),
        }),
        lookup('inventory', '/inventory', 'upc', '[Inventory!]!', stock, {
          type: 'Product',
          field: 'inventory',
          args: { keys: '{upc}' },
          batch: { key: 'upc' },
        }),
      ],
    },
  },
}
