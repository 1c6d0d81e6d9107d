import { fileURLToPath } from 'node:url'
import { credentials, loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import type { Post, User } from './posts.ts'

/** The clients that people write resolvers with. */
export interface PostsClient {
  posts(limit: number): Promise<{ items: Post[] }>
  user(id: string): Promise<User>
  users(ids: readonly string[]): Promise<User[]>
}

function overGrpc(address: string): PostsClient {
  const definition = loadSync(fileURLToPath(new URL('posts.proto', import.meta.url)), { keepCase: false })
  const { bench } = loadPackageDefinition(definition) as unknown as {
    bench: { v1: Record<'PostService' | 'UserService', ServiceClientConstructor> }
  }
  const clients = {
    PostService: new bench.v1.PostService(address, credentials.createInsecure()),
    UserService: new bench.v1.UserService(address, credentials.createInsecure()),
  }
  const call = <Reply>(service: keyof typeof clients, method: string, request: object): Promise<Reply> =>
    new Promise((resolve, reject) => {
      clients[service][method]?.(request, (error: Error | null, reply: Reply) =>
        error ? reject(error) : resolve(reply),
      )
    })
  return {
    posts: (limit) => call('PostService', 'ListPosts', { limit }),
    user: (id) => call('UserService', 'GetUser', { id }),
    users: async (ids) => (await call<{ users: User[] }>('UserService', 'BatchGetUsers', { ids })).users,
  }
}

function overRest(base: string): PostsClient {
  const get = async <Reply>(path: string): Promise<Reply> => (await fetch(`${base}${path}`)).json() as Reply
  return {
    posts: (limit) => get(`/posts?limit=${limit}`),
    user: (id) => get(`/users/${encodeURIComponent(id)}`),
    users: (ids) => get(`/users?${new URLSearchParams(ids.map((id) => ['ids', id]))}`),
  }
}

const grpc = process.env['BENCH_GRPC_URL']
const rest = process.env['BENCH_REST_URL']
const ofPosts = grpc ? overGrpc(grpc) : overRest(rest ?? '')
// Where there are both, each has one of the two.
export const client: PostsClient = grpc && rest ? { ...overRest(rest), posts: ofPosts.posts } : ofPosts
