import { createServer } from 'node:http'
import { useLiveQuery } from '@envelop/live-query'
import { InMemoryLiveQueryStore } from '@n1ru4l/in-memory-live-query-store'
import { useServer } from 'graphql-ws/use/ws'
import { createYoga } from 'graphql-yoga'
import { WebSocketServer } from 'ws'
import { createLiveFeed, feedSchema } from './live-feed.ts'

const feed = createLiveFeed()
const store = new InMemoryLiveQueryStore()
const yoga = createYoga({
  schema: feedSchema(feed),
  plugins: [useLiveQuery({ liveQueryStore: store })],
  logging: false,
})
const server = createServer((request, response) => void yoga(request, response))
const wss = new WebSocketServer({ server, path: '/graphql/live', perMessageDeflate: false })

useServer(
  {
    execute: (args) => (args.rootValue as { execute(args: unknown): never }).execute(args),
    subscribe: (args) => (args.rootValue as { subscribe(args: unknown): never }).subscribe(args),
    async onSubscribe(_context, _id, params) {
      const { schema, execute, subscribe, contextFactory, parse, validate } = yoga.getEnveloped({ params })
      const document = parse(params.query)
      const errors = validate(schema, document)
      if (errors.length > 0) return errors
      return {
        schema,
        operationName: params.operationName,
        document,
        variableValues: params.variables,
        contextValue: await contextFactory(),
        rootValue: { execute, subscribe },
      }
    },
  },
  wss,
)
feed.serve(server, () => void store.invalidate('Query.feed'))
