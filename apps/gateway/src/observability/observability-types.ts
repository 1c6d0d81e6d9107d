/** Metrics for Prometheus. */
export interface MetricsConfig {
  /** Scrapers send it as `Authorization: Bearer <token>`. Default: nobody is asked. */
  readonly token?: string | undefined
}

/** The sections of the config about what operators see. */
export interface ObservabilitySections {
  /** Metrics for Prometheus, at `/metrics`. Default true; production false, as they are answered to everyone unless it has a token. */
  readonly metrics?: boolean | MetricsConfig | undefined
  /**
   * OpenTelemetry traces, by the provider that is registered with `@opentelemetry/api`: request, operation, each call of a
   * backend; W3C trace context in and out. Default false.
   */
  readonly tracing?: boolean | undefined
  /**
   * `/status`: a page for browsers with the health of backends, the cache's hit rate, live queries and the last errors
   * by code. It asks nobody who they are. Default true; production false.
   */
  readonly status?: boolean | undefined
}
