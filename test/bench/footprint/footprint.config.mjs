// The config of a gateway whose answers are all kept, and all of one size.
const text = 'x'.repeat(Number(process.env.FOOTPRINT_BYTES))

export default {
  log: { level: 'silent' },
  server: { maxConnections: 15_000, maxAddressShare: 1 },
  responseCache: { maxSize: 1_000_000, maxBytes: 2 ** 30, defaultTtlMs: 3_600_000 },
  typeDefs: 'type Query { text(n: Int!): String! }',
  dependencies: { 'Query.text': { variesBy: [] } },
  resolvers: { Query: { text: (_, { n }) => `${n}${text}` } },
}
