interface DemoConfig {
  readonly graphql: object
  readonly grpc: Readonly<Record<string, object>>
  readonly rest: Readonly<Record<string, object>>
}
// The demo of the program that is tested, which may be another checkout's.
const path: string = `${process.env['BUILT_ROOT'] ?? '../../..'}/apps/gateway/gateway.config.ts`
const { default: demo } = (await import(path)) as { readonly default: DemoConfig }
const protos = new URL('../../../apps/demo-users/proto', import.meta.url).pathname
const plans = process.env['PLANS'] !== 'off'

/** The demo's, with batches; without plans where `PLANS` is `off`: resolvers make each answer. */
const config: object = {
  ...demo,
  graphql: { ...demo.graphql, batching: 2 },
  grpc: {
    users: {
      ...demo.grpc['users'],
      protoFiles: [`${protos}/demo/users/v1/users.proto`],
      includePaths: [protos],
      plans,
    },
  },
  rest: { shop: { ...demo.rest['shop'], plans } },
}

export default config
