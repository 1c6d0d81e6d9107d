import type { TracerProvider } from '@opentelemetry/api'

/** Metrics for Prometheus. */
export interface MetricsConfig {
  /** The path it is served at. Default `/metrics`. */
  readonly path?: string | undefined
  /** Scrapers send it as `Authorization: Bearer <token>`. Default: nobody is asked. */
  readonly token?: string | undefined
}

/** OpenTelemetry traces: request, operation, each call of a backend; W3C trace context in and out. */
export interface TracingConfig {
  /**
   * The provider that makes spans. Default: the one that is registered with `@opentelemetry/api`, as its Node
   * SDK does.
   */
  readonly tracerProvider?: TracerProvider | undefined
}

/** The sections of the config about what operators see. */
export interface ObservabilitySections {
  /** Default true; production false, as `/metrics` is answered to everyone unless it has a token. */
  readonly metrics?: boolean | MetricsConfig | undefined
  /** Default false. */
  readonly tracing?: boolean | TracingConfig | undefined
  /**
   * `/status`: a page for browsers with the health of backends, the cache's hit rate, live queries and the last errors
   * by code. It asks nobody who they are. Default true; production false.
   */
  readonly status?: boolean | undefined
}
