import type * as ApolloServerModule from '@apollo/server'
import type * as StandaloneModule from '@apollo/server/standalone'
import { createRequire } from 'node:module'
import { announceProgram } from '../src/serve-program.ts'
import { directives, resolvers, typeDefs } from '../src/defer-schema.ts'
import { versionsOf } from '../src/versions.ts'

// Its CommonJS build: loader hooks of Node 20 stumble over CommonJS packages that its ES modules import.
const require = createRequire(import.meta.url)
const { ApolloServer } = require('@apollo/server') as typeof ApolloServerModule
const { startStandaloneServer } = require('@apollo/server/standalone') as typeof StandaloneModule

const server = new ApolloServer({ typeDefs: typeDefs + directives, resolvers })
const { url } = await startStandaloneServer(server, { listen: { port: 0, host: '127.0.0.1' } })
announceProgram(url, versionsOf(['@apollo/server', 'graphql'], import.meta.url))
