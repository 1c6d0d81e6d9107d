import { z } from 'zod'
import { count } from '../option-values.ts'
import type { NatsConfig, RedisConfig } from './broker-types.ts'

const addresses = z.array(z.string()).min(1)
/** Of sentinels and nodes; without a port it is that which such servers have. */
const hosts = z
  .array(
    z.string().regex(/^(?:\[[\da-fA-F:.]+\]|[^\s:/@[\]]+)(?::\d+)?$/, 'expected host:port, or [IPv6]:port'),
  )
  .min(1)
const files = { ca: z.string().optional(), cert: z.string().optional(), key: z.string().optional() }

export const redis: z.ZodType<RedisConfig> = z
  .strictObject({
    url: z.string().optional(),
    sentinels: hosts.optional(),
    name: z.string().min(1).optional(),
    sentinelUsername: z.string().optional(),
    sentinelPassword: z.string().optional(),
    cluster: hosts.optional(),
    username: z.string().optional(),
    password: z.string().optional(),
    db: count.optional(),
    tls: z.union([z.boolean(), z.strictObject({ ...files, serverName: z.string().optional() })]).optional(),
  })
  .refine(({ url, sentinels, cluster }) => [url, sentinels, cluster].filter((given) => given).length === 1, {
    error: 'expected exactly one of url, sentinels and cluster',
  })
  .refine(({ sentinels, name }) => (sentinels === undefined) === (name === undefined), {
    error: 'sentinels and name must be set together; name is the master that the sentinels watch',
  })
  .refine(
    ({ sentinels, sentinelUsername, sentinelPassword }) =>
      sentinels !== undefined || (sentinelUsername === undefined && sentinelPassword === undefined),
    {
      error:
        'sentinelUsername and sentinelPassword require sentinels; set sentinels, or remove the sentinel credentials',
    },
  )
  .refine(({ cluster, db }) => cluster === undefined || db === undefined, {
    error: 'a Redis cluster has only database 0; remove the setting db',
    path: ['db'],
  })

export const nats: z.ZodType<NatsConfig> = z
  .strictObject({
    servers: z.union([z.string(), addresses]),
    user: z.string().optional(),
    password: z.string().optional(),
    token: z.string().optional(),
    tls: z.union([z.boolean(), z.strictObject(files)]).optional(),
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), {
    error: 'user and password must be set together',
  })
  .refine(({ user, token }) => user === undefined || token === undefined, {
    error: 'expected either user and password, or token',
    path: ['token'],
  })
