import { createServer } from 'node:http'
import DataLoader from 'dataloader'
import { createSchema, createYoga } from 'graphql-yoga'
import { serveProgram } from '../src/serve-program.ts'
import { versionsOf } from '../src/versions.ts'
import { client } from './posts-clients.ts'
import { typeDefs, type Post, type User } from './posts.ts'

// What people write: a call for each author, or a DataLoader and an endpoint that takes many ids.
interface Context {
  readonly users: DataLoader<string, User>
}

const isBatched = process.env['BENCH_JOIN'] === 'batch'
const author = isBatched
  ? ({ userId }: Post, _args: unknown, { users }: Context) => users.load(userId)
  : ({ userId }: Post) => client.user(userId)

async function loadUsers(ids: readonly string[]): Promise<User[]> {
  const found = new Map((await client.users(ids)).map((user) => [user.id, user]))
  return ids.map((id) => found.get(id) as User)
}

const yoga = createYoga<object, Context>({
  schema: createSchema<Context>({
    typeDefs,
    resolvers: {
      Query: { posts: (_root: unknown, { limit }: { limit: number }) => client.posts(limit) },
      Post: { author },
    },
  }),
  context: () => ({ users: new DataLoader<string, User>(loadUsers) }),
})
serveProgram(
  createServer(yoga),
  versionsOf(
    ['graphql-yoga', 'dataloader', '@grpc/grpc-js', '@grpc/proto-loader', 'graphql'],
    import.meta.url,
  ),
)
