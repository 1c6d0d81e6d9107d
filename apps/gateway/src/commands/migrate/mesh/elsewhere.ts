/** Handlers of which there is no source. */
export const NO_HANDLER: Readonly<Record<string, string>> = {
  graphql: 'there is no source for GraphQL here',
  soap: 'there is no source for SOAP here',
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
  plugins: 'plugins are Yoga’s and Envelop’s here too: name them in a config of code',
  pubsub: 'set redisUrl',
  require: 'import it in a config of code',
  transforms: 'transforms of the whole: set prefix, rename and hide of each source',
  persistedOperations: 'register documents in persistedDocuments',
  customFetch: 'send requests otherwise with interceptors, in a config of code',
  skipSSLValidation:
    'certificates are verified; name the authority in tls.ca of gRPC, or NODE_EXTRA_CA_CERTS',
  documents: 'register documents in persistedDocuments',
}
