// A gateway that is nothing but live queries: reads numbers from a backend, tells others of changes over Redis.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRedisInvalidationBus } from '@vinyasa/invalidation/redis'
import { useLiveQuery } from '@vinyasa/live-query'
import { attachLiveServer } from '@vinyasa/live-query/ws'
import { createSchema, createYoga } from 'graphql-yoga'

const { REDIS_URL = '', BACKEND_URL = '' } = process.env
process.on('unhandledRejection', (reason) => {
  process.stderr.write(`unhandled rejection: ${String(reason)}\n`)
  process.exit(1)
})

const bus = createRedisInvalidationBus({
  url: REDIS_URL,
  onState: (state) => process.stdout.write(`bus ${state}\n`),
  onError: (error) => process.stderr.write(`bus error: ${String(error)}\n`),
})
await bus.ready

const schema = createSchema({
  typeDefs: /* GraphQL */ `
    type Counter {
      key: ID!
      value: Int!
    }
    type Query {
      counter(key: ID!): Counter
    }
    type Mutation {
      touch(key: ID!): Boolean
    }
  `,
  resolvers: {
    Query: {
      counter: async (_, { key }: { key: string }) => ({
        key,
        value: Number(await (await fetch(`${BACKEND_URL}/${key}`)).text()),
      }),
    },
    Mutation: {
      touch: async (_, { key }: { key: string }) => {
        await bus.publish([{ entityType: 'Counter', operation: 'update', entityId: key }])
        return true
      },
    },
  },
})
const plugin = useLiveQuery({ bus, fields: { counter: {} } })
const yoga = createYoga({ schema, plugins: [plugin], logging: false })
const server = createServer((request, response) => void yoga(request, response))
attachLiveServer(server, { plugin })
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready on ${(server.address() as AddressInfo).port}\n`)
})
