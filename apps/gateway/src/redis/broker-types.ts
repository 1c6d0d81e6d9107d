/** PEM files, relative to the config, or their texts. */
export interface TlsFilesConfig {
  /** Authorities to trust in place of those that Node does. */
  readonly ca?: string | undefined
  /** The gateway's own certificate, in PEM. */
  readonly cert?: string | undefined
  /** The key of that certificate, in PEM. */
  readonly key?: string | undefined
  /** The name that the server's certificate has to be for. Default: that of its address. */
  readonly serverName?: string | undefined
}

/** A Redis or Valkey: one of `url`, `sentinels` and `cluster`, and how to sign in. */
export interface RedisConfig {
  /** One server: `redis://host:6379`, or `rediss://host:6379` for TLS. */
  readonly url?: string | undefined
  /** `host:port` of sentinels: whichever server is the master named `name` is used. */
  readonly sentinels?: readonly string[] | undefined
  /** The master that the sentinels are asked for. */
  readonly name?: string | undefined
  /** The user who signs in at the sentinels. Default: nobody. */
  readonly sentinelUsername?: string | undefined
  /** The password for the sentinels. */
  readonly sentinelPassword?: string | undefined
  /** `host:port` of nodes of a cluster; the others are found. */
  readonly cluster?: readonly string[] | undefined
  /** The user who signs in at the servers. Default: the one of the URL, or nobody. */
  readonly username?: string | undefined
  /** The password for the servers. Default: the one of the URL. */
  readonly password?: string | undefined
  /** Number of the database; clusters have one alone. Default 0. */
  readonly db?: number | undefined
  /** TLS to all of them. Default: whether the URL begins with `rediss:`. */
  readonly tls?: boolean | TlsFilesConfig | undefined
}

/** NATS, which carries changes between gateways in place of Redis. It keeps no answers. */
export interface NatsConfig {
  /** `nats://host:4222` of one server or several. */
  readonly servers: string | readonly string[]
  /** The user who signs in. Default: nobody. */
  readonly user?: string | undefined
  /** The password of `user`. */
  readonly password?: string | undefined
  /** A token to sign in with, in place of a user. */
  readonly token?: string | undefined
  /**
   * TLS to all servers. Default: whether they ask for it. Their certificates must be for the names of hosts that
   * `servers` has: one for an IP address alone is refused, as the client compares names only.
   */
  readonly tls?: boolean | Omit<TlsFilesConfig, 'serverName'> | undefined
}

/** The sections of the config that name a Redis. */
export interface RedisSections {
  /**
   * `redis://host:6379`: gateways with the same Redis tell each other what changed and share cached responses.
   * Default: each for itself.
   */
  readonly redisUrl?: string | undefined
  /** The same, for a Redis behind Sentinel, a cluster, or certificates of one's own; in place of `redisUrl`. */
  readonly redis?: RedisConfig | undefined
}

/** The section of the config that names another broker. */
export interface BrokerSections {
  /**
   * Gateways with the same NATS tell each other what changed, each with a cache of its own; beside Redis it carries the
   * changes, and Redis the rest. Default: none.
   */
  readonly nats?: NatsConfig | undefined
}
