import { createServer } from 'node:http'
import { createInvalidationBus } from '@vinyasa/invalidation'
import { useLiveQuery } from '@vinyasa/live-query'
import { attachLiveServer } from '@vinyasa/live-query/ws'
import { createYoga } from 'graphql-yoga'
import { createLiveFeed, feedSchema } from './live-feed.ts'

const feed = createLiveFeed()
const bus = createInvalidationBus()
const plugin = useLiveQuery({ bus, maxSubscriptions: 20_000, fields: { feed: { throttleMs: 0 } } })
const yoga = createYoga({ schema: feedSchema(feed), plugins: [plugin], logging: false })
const server = createServer((request, response) => void yoga(request, response))
attachLiveServer(server, { plugin })
feed.serve(server, () => void bus.publish([{ entityType: 'Feed', operation: 'update' }]))
