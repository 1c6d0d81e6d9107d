const never = new Promise<never>(() => {})

/** A file that was uploaded, streamed or whole. */
interface Upload {
  arrayBuffer(): Promise<ArrayBuffer>
}

/** As strict as it can be made, so that the test need not wait for long. */
const config: object = {
  preset: 'production',
  server: {
    headersTimeoutMs: 400,
    requestTimeoutMs: 1_000,
    answerTimeoutMs: 1_000,
    maxInFlight: Number(process.env['STAGES_IN_FLIGHT']),
    maxAddressShare: 1,
  },
  log: { format: 'json' },
  responseCache: true,
  apq: true,
  graphql: {
    batching: 3,
    ...(process.env['STAGES_UPLOADS'] === '1' && { uploads: { maxFileBytes: 200_000, maxIdleMs: 300 } }),
  },
  liveQuery: { defaults: { enabled: true } },
  typeDefs: `
    scalar Upload
    type Query { hello: String late: String hang: String }
    type Mutation { size(f: Upload!): Int }
    type Subscription { ticks: Int }
  `,
  dependencies: {
    'Query.hello': { variesBy: [] },
    'Query.late': { variesBy: [] },
    'Query.hang': { variesBy: [] },
  },
  resolvers: {
    Query: {
      hello: () => 'world',
      late: () => new Promise((resolve) => setTimeout(() => resolve('late'), 50)),
      hang: () => never,
    },
    Mutation: {
      size: async (_: unknown, { f }: { readonly f: Upload }) => (await f.arrayBuffer()).byteLength,
    },
    Subscription: {
      ticks: {
        async *subscribe() {
          yield { ticks: 1 }
          await never
        },
      },
    },
  },
}
export default config
