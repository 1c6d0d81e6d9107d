/** TLS files in PEM. Each setting is a path relative to the config, or the PEM text itself. */
export interface TlsFilesConfig {
  /** Certificate authorities to trust instead of the authorities of Node. */
  readonly ca?: string | undefined
  /** Client certificate of the gateway. */
  readonly cert?: string | undefined
  /** Private key of the client certificate. */
  readonly key?: string | undefined
  /** Name that the certificate of the server must contain. Default: the host name of its address. */
  readonly serverName?: string | undefined
}

/** Connection to Redis or Valkey. Exactly one of `url`, `sentinels` and `cluster` is required. */
export interface RedisConfig {
  /** URL of one server: `redis://host:6379`, or `rediss://host:6379` for TLS. */
  readonly url?: string | undefined
  /** `host:port` of Sentinel servers. The gateway connects to the current master with the name `name`. */
  readonly sentinels?: readonly string[] | undefined
  /** Name of the master in Sentinel. */
  readonly name?: string | undefined
  /** Username for the Sentinel servers. Default: none. */
  readonly sentinelUsername?: string | undefined
  /** Password for the Sentinel servers. Default: none. */
  readonly sentinelPassword?: string | undefined
  /** `host:port` of some nodes of a cluster. The gateway finds the other nodes. */
  readonly cluster?: readonly string[] | undefined
  /** Username for the servers. Default: the username in the URL, or none. */
  readonly username?: string | undefined
  /** Password for the servers. Default: the password in the URL, or none. */
  readonly password?: string | undefined
  /** Number of the database. A cluster has only database 0. Default 0. */
  readonly db?: number | undefined
  /** TLS for all connections. Default: TLS if the URL starts with `rediss:`. */
  readonly tls?: boolean | TlsFilesConfig | undefined
}

/** Connection to NATS, which carries invalidation events between gateways instead of Redis. It stores no responses. */
export interface NatsConfig {
  /** Addresses of one or more servers: `nats://host:4222`. */
  readonly servers: string | readonly string[]
  /** Username. It requires `password`. Default: none. */
  readonly user?: string | undefined
  /** Password of `user`. */
  readonly password?: string | undefined
  /** Token for authentication instead of a user. */
  readonly token?: string | undefined
  /**
   * TLS for all servers. Certificates must contain the host names in `servers`. Certificates for an IP address only are
   * refused, because the client compares only names. Default: TLS if the server requires it.
   */
  readonly tls?: boolean | Omit<TlsFilesConfig, 'serverName'> | undefined
}

/** The sections of the config about Redis. */
export interface RedisSections {
  /**
   * URL of a Redis server, such as `redis://host:6379`. Gateways with the same Redis share invalidation events and
   * cached responses. Default: none.
   */
  readonly redisUrl?: string | undefined
  /** Connection to Redis with Sentinel, a cluster or custom certificates. Use it instead of `redisUrl`. */
  readonly redis?: RedisConfig | undefined
}

/** The section of the config about NATS. */
export interface BrokerSections {
  /**
   * Connection to NATS. Gateways with the same NATS share invalidation events, and each gateway has its own cache. If
   * Redis is also set, NATS carries the events, and Redis stores cached responses and counters. Default: none.
   */
  readonly nats?: NatsConfig | undefined
}
