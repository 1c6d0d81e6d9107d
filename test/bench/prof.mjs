import { createYoga, createSchema } from 'graphql-yoga'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { useDeferStream } from '@graphql-yoga/plugin-defer-stream'
const typeDefs = `type Query { items(count: Int!): [Item!]! } type Item { id: ID! name: String! price: Float! details: Details! } type Details { text: String! stock: Int! tags: [String!]! }`
const resolvers = { Query: { items: (_, { count }) => Array.from({ length: count }, (_, i) => ({ id: String(i), name: `item ${i}`, price: i / 4 })) }, Item: { details: ({ id }) => ({ text: `what is to be said of ${id}`, stock: Number(id), tags: ['a', 'b'] }) } }
const which = process.argv[2]
const yoga = createYoga({ schema: createSchema({ typeDefs, resolvers }), plugins: [which === 'yoga' ? useDeferStream() : useDeferSplitter({ strategy: which })], logging: false })
const body = JSON.stringify({ query: `{ items(count: 200) { id name ... @defer { price details { text stock tags } } } }` })
async function once() { const r = await yoga.fetch('http://x/graphql', { method: 'POST', headers: { 'content-type': 'application/json', accept: 'multipart/mixed' }, body }); await r.text() }
for (let i = 0; i < 200; i++) await once()
const n = 1000
const b = process.cpuUsage()
for (let i = 0; i < n; i++) await once()
const a = process.cpuUsage(b)
console.log(which, ((a.user + a.system) / n / 1000).toFixed(3), 'ms/op')
