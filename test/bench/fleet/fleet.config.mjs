// The config of each gateway of the fleet. Times are of the clock that all processes of a machine share.
const { FLEET_REDIS: redisUrl, FLEET_CLUSTER: cluster, FLEET_NATS: servers } = process.env

const now = () => Number(process.hrtime.bigint()) / 1e6
const item = () => ({ id: '1', at: now() })

export default {
  log: { level: 'silent' },
  ...(redisUrl && { redisUrl }),
  ...(cluster && { redis: { cluster: cluster.split(' ') } }),
  ...(servers && { nats: { servers } }),
  responseCache: { defaultTtlMs: 3_600_000 },
  liveQuery: { defaults: { enabled: true, throttleMs: 0 } },
  typeDefs: 'type Item { id: ID! at: Float! } type Query { item: Item } type Mutation { change: Item }',
  dependencies: { 'Query.item': { variesBy: [] } },
  resolvers: { Query: { item }, Mutation: { change: item } },
}
