/** A metric of `/metrics`. The reference in the documentation is generated from these definitions. */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly unit: string
  /** The help text that Prometheus shows. */
  readonly help: string
  /** The values of each label, as markdown. */
  readonly labels: Readonly<Record<string, string>>
  /** Upper bounds of the buckets of a histogram, in ascending order. */
  readonly buckets?: readonly number[]
  /** How the values of several processes are combined. Default `sum`. */
  readonly aggregator?: 'max'
}

/** All metrics by name, in the order of the documentation. */
export const METRICS = {
  vinyasa_http_request_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    help: 'Time from the arrival of a request to the start of its response.',
    labels: {
      path: 'A path of the gateway such as `/graphql`; `other` for all other paths.',
      status: 'The HTTP status, or `499` if the client disconnected before the response started.',
    },
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  vinyasa_http_requests_in_flight: {
    type: 'gauge',
    unit: 'requests',
    help: 'Requests whose response has not started. The limit per process is server.maxInFlight.',
    labels: {},
  },
  vinyasa_connections: {
    type: 'gauge',
    unit: 'connections',
    help: 'Open connections, including WebSockets and event streams. The limit per process is server.maxConnections.',
    labels: {},
  },
  vinyasa_operations_total: {
    type: 'counter',
    unit: 'operations',
    help: 'Operations over HTTP and WebSocket that were executed or refused for their cost. Cache hits are not included.',
    labels: {
      type: '`query`, `mutation`, `subscription`, or `live` for an execution of a live query. Opening a live query also counts as `query`.',
    },
  },
  vinyasa_errors_total: {
    type: 'counter',
    unit: 'errors',
    help: 'Errors in HTTP responses, by extensions.code.',
    labels: {
      code: 'The error code; `INTERNAL_SERVER_ERROR` if the code is missing or not a string; `OTHER` if it does not match `[A-Z][A-Z0-9_]{0,63}`.',
    },
  },
  vinyasa_cache_requests_total: {
    type: 'counter',
    unit: 'operations',
    help: 'Operations over HTTP, by outcome of the response cache.',
    labels: {
      outcome: '`hit`, `miss`, `stale`, `coalesced` or `bypass`, as in the `x-cache` header.',
    },
  },
  vinyasa_cache_bytes: {
    type: 'gauge',
    unit: 'bytes',
    help: 'Memory that the response cache uses. The limit per process is responseCache.maxBytes.',
    labels: {},
  },
  vinyasa_backend_call_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    help: 'Duration of calls to backends. A gRPC call includes its retries; each attempt of a REST call is counted separately.',
    labels: {
      source: 'The name of the source in the config.',
      kind: 'The protocol of the source (gRPC or REST), in lower case.',
      call: 'The method as `package.Service/Method`, or the name of the REST endpoint.',
      status:
        'The name of the gRPC status, the HTTP status, or `no answer` if no HTTP response was received.',
    },
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  vinyasa_backend_retries_total: {
    type: 'counter',
    unit: 'retries',
    help: 'Retries of calls to backends.',
    labels: {
      source: 'The name of the source in the config.',
      kind: 'The protocol of the source (gRPC or REST), in lower case.',
    },
  },
  vinyasa_backend_breaker_open: {
    type: 'gauge',
    unit: 'state',
    help: 'State of the circuit breaker of a REST source: 0 closed, 0.5 half open, 1 open.',
    labels: {
      source: 'The name of the source in the config. Sources without a breaker are not included.',
    },
    aggregator: 'max',
  },
  vinyasa_live_subscriptions: {
    type: 'gauge',
    unit: 'subscriptions',
    help: 'Open subscriptions to live queries.',
    labels: {},
  },
  vinyasa_live_groups: {
    type: 'gauge',
    unit: 'groups',
    help: 'Groups of open live query subscriptions. The subscriptions of a group share executions.',
    labels: {},
  },
  vinyasa_live_executions_total: {
    type: 'counter',
    unit: 'executions',
    help: 'Executions of live queries, including the first one of each group.',
    labels: {},
  },
  vinyasa_live_events_total: {
    type: 'counter',
    unit: 'events',
    help: 'Invalidation events that live queries received.',
    labels: {},
  },
  vinyasa_operation_cost_estimated: {
    type: 'histogram',
    unit: 'cost',
    help: 'Estimated cost of operations, executed or refused. Live queries count once. Cache hits are not included.',
    labels: {
      result: '`COST_OK`, or `COST_ESTIMATED_TOO_EXPENSIVE` for refused operations.',
    },
    buckets: [0, 1, 10, 100, 1000, 10_000, 100_000, 1_000_000],
  },
  vinyasa_operation_cost_actual: {
    type: 'histogram',
    unit: 'objects',
    help: 'Objects in HTTP responses, counted during execution. Responses from the cache are not included.',
    labels: {
      result: '`COST_OK`, or `RESPONSE_TOO_LARGE` for responses over a limit.',
    },
    buckets: [0, 1, 10, 100, 1000, 10_000, 100_000, 1_000_000],
  },
  vinyasa_held_bytes: {
    type: 'gauge',
    unit: 'bytes',
    help: 'Memory held for clients and backends, such as request bodies, queued updates and responses. The limit per process is a quarter of the heap limit.',
    labels: {},
  },
  vinyasa_log_lines_lost_total: {
    type: 'counter',
    unit: 'lines',
    help: 'Log lines that could not be written.',
    labels: {},
  },
  process_resident_memory_bytes: {
    type: 'gauge',
    unit: 'bytes',
    help: 'Resident memory.',
    labels: {},
  },
} as const

export type MetricName = keyof typeof METRICS

/** The value of every label of a metric. */
export type LabelsOf<Name extends MetricName> = Readonly<
  Record<keyof (typeof METRICS)[Name]['labels'], string | number>
>

/** The names of the metrics of a type. */
export type NamesOf<Type extends MetricDefinition['type']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never
}[MetricName]
