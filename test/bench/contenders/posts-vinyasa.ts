import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { createGrpcSource, useGrpcSource } from '@vinyasa/grpc-source'
import { createNodeHandler } from '@vinyasa/node-handler'
import { createRestConnector, field, useRestConnector } from '@vinyasa/rest-connector'
import { createYoga, type Plugin } from 'graphql-yoga'
import { serveProgram } from '../src/serve-program.ts'
import { versionsOf } from '../src/versions.ts'

async function overGrpc(endpoint: string): Promise<Plugin> {
  const source = await createGrpcSource({
    name: 'posts',
    protoFiles: [fileURLToPath(new URL('posts.proto', import.meta.url))],
    endpoint,
    methods: { 'bench.v1.PostService.ListPosts': { schema: { type: 'QUERY', name: 'posts' } } },
    joins: [
      {
        type: 'Post',
        field: 'author',
        batch: {
          method: 'bench.v1.UserService.BatchGetUsers',
          keys: 'ids',
          items: 'users',
          parentKey: 'userId',
        },
      },
    ],
  })
  return useGrpcSource(source) as Plugin
}

function overRest(baseUrl: string): Plugin {
  const connector = createRestConnector('posts', {
    baseUrl,
    cacheSize: 0,
    endpoints: [
      {
        name: 'posts',
        path: '/posts',
        args: { limit: 'Int' },
        queryParams: { limit: '{limit}' },
        responseSchema: {
          typeName: 'PostList',
          fields: {
            items: field.list(
              field.object('Post', {
                id: field.string.required,
                title: field.string,
                userId: field.string,
              }),
            ),
          },
        },
      },
      {
        name: 'usersByIds',
        path: '/users',
        args: { ids: '[String!]!' },
        queryParams: { ids: '{ids}' },
        responseSchema: {
          typeName: 'User',
          fields: { id: field.string.required, name: field.string, email: field.string },
        },
        returnType: '[User!]!',
        rootField: false,
        on: { type: 'Post', field: 'author', args: { ids: '{userId}' }, batch: { key: 'id' } },
      },
    ],
  })
  return useRestConnector(connector) as Plugin
}

const grpc = process.env['BENCH_GRPC_URL']
const yoga = createYoga({
  plugins: [grpc ? await overGrpc(grpc) : overRest(process.env['BENCH_REST_URL'] ?? '')],
})
serveProgram(createServer(createNodeHandler(yoga)), versionsOf(['graphql-yoga', 'graphql'], import.meta.url))
