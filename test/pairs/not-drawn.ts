/** Top-level settings of the config that no feature draws yet, and why. */
export const NOT_DRAWN: Readonly<Record<string, string>> = {
  federation: 'clients of a row speak to no router; test/federation has the routers',
  tracing: 'rows have no exporter of traces yet',
}
