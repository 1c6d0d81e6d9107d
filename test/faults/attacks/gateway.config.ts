import { fileURLToPath } from 'node:url'

interface DemoConfig {
  readonly grpc: Readonly<Record<string, object>>
  readonly graphql: object
  readonly rest: Readonly<Record<string, object>>
}
const path: string = '../../../apps/gateway/gateway.config.ts'
const { default: demo } = (await import(path)) as { readonly default: DemoConfig }
const protos = fileURLToPath(new URL('../../../apps/demo-users/proto', import.meta.url))
const HOSTILE = `syntax = "proto3"; package hostile;
service Hostile {
  rpc Ask(AskRequest) returns (Answer);
  rpc AskLong(AskRequest) returns (Long);
  rpc Watch(AskRequest) returns (stream Long);
}
message AskRequest { string how = 1; int32 seed = 2; }
message Answer { repeated Item items = 1; }
message Item { string name = 1; }
message Long { string id = 1; string filler = 2; }`

/** The demo's, with the backends of `backends-process.ts` beside it. The metrics tell what its cache keeps. */
const config: object = {
  ...demo,
  metrics: true,
  ...(process.env['HOSTILE_UPLOADS'] && { graphql: { ...demo.graphql, uploads: {} } }),
  grpc: {
    users: {
      ...demo.grpc['users'],
      protoFiles: [`${protos}/demo/users/v1/users.proto`],
      includePaths: [protos],
    },
    hostile: {
      endpoint: process.env['HOSTILE_GRPC'],
      protoText: { 'hostile.proto': HOSTILE },
      methods: {
        'hostile.Hostile.Ask': { schema: { name: 'hostileGrpc' }, timeoutMs: 1_000 },
        'hostile.Hostile.AskLong': { schema: { name: 'hostileLong' }, timeoutMs: 1_000 },
        'hostile.Hostile.Watch': { schema: { name: 'hostileStream', type: 'SUBSCRIPTION' } },
      },
    },
  },
  rest: {
    ...demo.rest,
    hostile: {
      baseUrl: process.env['HOSTILE_REST'],
      timeoutMs: 1_000,
      noRetry: true,
      endpoints: [
        { name: 'hostileRest', path: '/{how}/{seed}', args: { how: 'String!', seed: 'Int!' } },
        { name: 'hostileUpload', method: 'POST', path: '/upload', args: { input: 'Upload!' } },
      ],
    },
  },
}

export default config
