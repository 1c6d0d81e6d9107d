const path: string = `${process.env['BUILT_ROOT'] ?? '../../..'}/apps/gateway/gateway.config.ts`
const { default: demo } = (await import(path)) as {
  readonly default: { readonly grpc: Readonly<Record<string, object>> }
}
const protos = new URL('../../../apps/demo-users/proto', import.meta.url).pathname

const matrix = <T>(n: number, of: (row: number) => T[]): T[][] =>
  Array.from({ length: n }, (_, row) => of(row))
const cells = (_parent: unknown, { n }: { n: number }): object[][] =>
  matrix(n, (row) => Array.from({ length: n }, (_, column) => ({ id: `${row}.${column}` })))

/** The demo's, without a cache, with lists of lists that its own resolvers make. */
const config: object = {
  ...demo,
  responseCache: false,
  grpc: {
    users: {
      ...demo.grpc['users'],
      protoFiles: [`${protos}/demo/users/v1/users.proto`],
      includePaths: [protos],
    },
  },
  typeDefs: `
    extend type User { matrix(n: Int!): [[Cell!]!]! numbers(n: Int!): [[Int!]!]! }
    type Cell { id: String! matrix(n: Int!): [[Cell!]!]! }`,
  resolvers: {
    User: {
      matrix: cells,
      // One row for all: what a resolver itself takes is nobody else's to bound.
      numbers(_user: unknown, { n }: { n: number }) {
        const row = Array.from({ length: n }, (_, column) => column)
        return matrix(n, () => row)
      },
    },
    Cell: { matrix: cells },
  },
}

export default config
