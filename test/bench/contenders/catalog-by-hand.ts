import { createServer } from 'node:http'
import { createSchema, createYoga } from 'graphql-yoga'
import { serveProgram } from '../src/serve-program.ts'
import { versionsOf } from '../src/versions.ts'
import { resolvers } from './catalog-resolvers.ts'
import { typeDefs } from './catalog.ts'

// What people write today: Yoga with a resolver per field.
const yoga = createYoga<object>({ schema: createSchema<object>({ typeDefs, resolvers }) })
serveProgram(
  createServer(yoga),
  versionsOf(['graphql-yoga', '@grpc/grpc-js', '@grpc/proto-loader'], import.meta.url),
)
