import { fileURLToPath } from 'node:url'

const path: string = '../../../apps/gateway/gateway.config.ts'
const { default: demo } = (await import(path)) as {
  readonly default: { readonly grpc: Readonly<Record<string, object>> }
}
const protos = fileURLToPath(new URL('../../../apps/demo-users/proto', import.meta.url))

/** The demo's, without a cache. */
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
}

export default config
