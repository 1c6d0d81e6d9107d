/** Metrics for Prometheus. */
export interface MetricsConfig {
  /** Token that scrapers must send as `Authorization: Bearer <token>`. Default: no authentication. */
  readonly token?: string | undefined
}

/** The sections of the config about metrics, traces and the status page. */
export interface ObservabilitySections {
  /** Metrics for Prometheus at `/metrics`. They are public unless `token` is set. Default true; production false. */
  readonly metrics?: boolean | MetricsConfig | undefined
  /**
   * OpenTelemetry traces for each request, operation and backend call, with the provider that is registered with
   * `@opentelemetry/api`. W3C trace context is accepted from clients and sent to backends. Default false.
   */
  readonly tracing?: boolean | undefined
  /**
   * `/status`: a page for browsers with the health of backends, the hit rate of the cache, live queries and recent
   * errors by code. It has no authentication. Default true; production false.
   */
  readonly status?: boolean | undefined
}
