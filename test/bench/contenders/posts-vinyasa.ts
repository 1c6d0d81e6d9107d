import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { createGrpcSource, useGrpcSource, type GrpcSourceOptions } from '@vinyasa/grpc-source'
import { createNodeHandler } from '@vinyasa/node-handler'
import { createRestConnector, field, useRestConnector, type RestEndpoint } from '@vinyasa/rest-connector'
import { createYoga, type Plugin } from 'graphql-yoga'
import { serveProgram } from '../src/serve-program.ts'
import { versionsOf } from '../src/versions.ts'

const join: NonNullable<GrpcSourceOptions['joins']>[number] = {
  type: 'Post',
  field: 'author',
  batch: { method: 'bench.v1.UserService.BatchGetUsers', keys: 'ids', items: 'users', parentKey: 'userId' },
}

async function overGrpc(endpoint: string, hasUsers: boolean): Promise<Plugin> {
  const source = await createGrpcSource({
    name: 'posts',
    protoFiles: [fileURLToPath(new URL('posts.proto', import.meta.url))],
    endpoint,
    methods: { 'bench.v1.PostService.ListPosts': { schema: { type: 'QUERY', name: 'posts' } } },
    joins: hasUsers ? [join] : [],
  })
  return useGrpcSource(source) as Plugin
}

const posts: RestEndpoint = {
  name: 'posts',
  path: '/posts',
  args: { limit: 'Int' },
  queryParams: { limit: '{limit}' },
  responseSchema: {
    typeName: 'PostList',
    fields: {
      items: field.list(
        field.object('Post', { id: field.string.required, title: field.string, userId: field.string }),
      ),
    },
  },
}

const usersByIds: RestEndpoint = {
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
}

function overRest(baseUrl: string, hasPosts: boolean): Plugin {
  const endpoints = hasPosts ? [posts, usersByIds] : [usersByIds]
  return useRestConnector(createRestConnector('posts', { baseUrl, cacheSize: 0, endpoints })) as Plugin
}

const grpc = process.env['BENCH_GRPC_URL']
const rest = process.env['BENCH_REST_URL']
const plugins: Plugin[] = []
if (grpc) plugins.push(await overGrpc(grpc, !rest))
if (rest) plugins.push(overRest(rest, !grpc))
const yoga = createYoga({ plugins })
serveProgram(createServer(createNodeHandler(yoga)), versionsOf(['graphql-yoga', 'graphql'], import.meta.url))
