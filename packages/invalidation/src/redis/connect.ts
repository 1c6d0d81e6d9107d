import { Cluster, Redis, type RedisOptions } from 'ioredis'

/** Credentials and TLS options for all servers. */
interface RedisLogin {
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** TLS options: `true` trusts the certificate authorities of Node; an object is passed to `tls.connect`. */
  readonly tls?: boolean | RedisOptions['tls'] | undefined
}

/** Redis with Sentinel. The client connects to the current master and follows a failover. */
interface SentinelServers extends RedisLogin {
  /** Addresses of the sentinels as `host:port`. The default port is 26379. */
  readonly sentinels: readonly string[]
  /** Name of the master in the configuration of the sentinels. */
  readonly name: string
  readonly db?: number | undefined
  readonly sentinelUsername?: string | undefined
  readonly sentinelPassword?: string | undefined
}

/** Redis Cluster. */
interface ClusterServers extends RedisLogin {
  /** Addresses of some nodes as `host:port`; the client discovers the remaining nodes. The default port is 6379. */
  readonly cluster: readonly string[]
}

/** Addresses of a Redis or Valkey deployment with more than one server. */
export type RedisServers = SentinelServers | ClusterServers

/**
 * Opens a connection with the given options. A `subscriber` connection receives messages and only sends `SUBSCRIBE`
 * and `PING`.
 */
export type ConnectRedis = (options: RedisOptions, role: 'commands' | 'subscriber') => Redis | Cluster

interface Address {
  readonly host: string
  readonly port: number
}

const REDIS_PORT = 6379
const SENTINEL_PORT = 26_379

/**
 * Returns a function that connects to Redis with Sentinel or to a Redis cluster. Pass it as `connect` to the bus, or
 * to the store of `@vinyasa/response-cache/redis`.
 * @throws TypeError if an address is invalid
 */
export function connectRedis(servers: RedisServers): ConnectRedis {
  return 'cluster' in servers ? connectCluster(servers) : connectMaster(servers)
}

function connectMaster(servers: SentinelServers): ConnectRedis {
  const { sentinels, name, db, sentinelUsername, sentinelPassword, tls } = servers
  const addresses = sentinels.map((sentinel) => parseAddress(sentinel, SENTINEL_PORT))
  return (options) =>
    new Redis({
      ...options,
      ...loginOf(servers),
      ...(db !== undefined && { db }),
      ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: tls === true ? {} : tls }),
      ...(sentinelUsername !== undefined && { sentinelUsername }),
      ...(sentinelPassword !== undefined && { sentinelPassword }),
      sentinels: [...addresses],
      name,
      // `failoverDetector` is not set, because it permanently ends connections that are being opened. Sentinels also
      // end client connections to a replaced master.
      sentinelRetryStrategy: options.retryStrategy as (attempt: number) => number,
    })
}

function connectCluster(servers: ClusterServers): ConnectRedis {
  const nodes = servers.cluster.map((node) => parseAddress(node, REDIS_PORT))
  const login = loginOf(servers)
  return (options, role) => {
    if (role === 'subscriber') return connectToAnyOf(nodes, { ...options, ...login })
    const { retryStrategy, enableOfflineQueue, ...redisOptions } = options
    return new Cluster(nodes, {
      ...(enableOfflineQueue !== undefined && { enableOfflineQueue }),
      clusterRetryStrategy: retryStrategy as (attempt: number) => number,
      // Commands are not retried. The caller continues without Redis instead of waiting for another master.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      slotsRefreshTimeout: 1000,
      // Certificates are issued for names, so names are not replaced by addresses.
      ...(servers.tls && {
        dnsLookup: (host: string, found: (error: null, host: string) => void) => found(null, host),
      }),
      redisOptions: { ...redisOptions, ...login },
    })
  }
}

/**
 * Connects to one node of a cluster, because all nodes receive published messages. If the node is unreachable, the next
 * node is used.
 */
function connectToAnyOf(nodes: readonly Address[], options: RedisOptions): Redis {
  const { retryStrategy } = options
  let at = 0
  const client: Redis = new Redis({
    ...options,
    ...nodes[at],
    retryStrategy(attempt) {
      at = (at + 1) % nodes.length
      // The options are read for each connection.
      Object.assign(client.options, nodes[at])
      return retryStrategy?.(attempt)
    },
  })
  return client
}

function loginOf({ username, password, tls }: RedisLogin): RedisOptions {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: tls === true ? {} : tls }),
  }
}

function parseAddress(text: string, defaultPort: number): Address {
  const shown = text.slice(text.lastIndexOf('@') + 1)
  if (shown !== text)
    throw new TypeError(
      `the address of the server "${shown}" contains credentials; use host:port, and set the credentials with their own options`,
    )
  const address = `redis://${text}`
  const {
    hostname = '',
    port = '',
    pathname,
    search,
  } = URL.canParse(address) ? new URL(address) : { hostname: '', port: '', pathname: '', search: '' }
  if (hostname === '' || pathname.length > 1 || search !== '' || text.includes('/'))
    throw new TypeError(`"${text}" is not a valid server address; expected host:port or [IPv6]:port`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? defaultPort : Number(port) }
}
