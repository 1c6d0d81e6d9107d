/** Handlers of which there is no source. */
export const NO_HANDLER: Readonly<Record<string, string>> = {
  graphql: 'GraphQL sources are not supported',
  soap: 'SOAP sources are not supported',
}

/** Settings of `serve` that are read. */
export const SERVED: ReadonlySet<string> = new Set(['port', 'hostname', 'host', 'cors', 'endpoint'])

/** Settings of the whole that are read, or that nobody but tools misses. */
export const READ: ReadonlySet<string> = new Set([
  '$schema',
  'additionalResolvers',
  'additionalTypeDefs',
  'sdk',
  'serve',
  'sources',
])

/** Settings of the whole that have theirs elsewhere. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  cache: 'set responseCache',
  plugins: 'the gateway supports Yoga and Envelop plugins; add them in a TypeScript config',
  pubsub: 'set redisUrl',
  require: 'import these modules in a TypeScript config',
  transforms: 'root transforms are not supported; set prefix, rename and hide for each source',
  persistedOperations: 'register documents in persistedDocuments',
  customFetch: 'change requests with interceptors in a TypeScript config',
  skipSSLValidation:
    'certificates are always verified; set the certificate authority in tls.ca (gRPC) or NODE_EXTRA_CA_CERTS',
  documents: 'register documents in persistedDocuments',
}
