import type { IResolvers } from '@graphql-tools/utils'
import type { Plugin } from 'graphql-yoga'

/** Facts about a field that the schema does not contain. */
export interface DependencyStatement {
  /** Types that a mutation changes, in addition to the types in its result. `[]` means none, and `['*']` means any. */
  readonly changes?: readonly string[] | undefined
  /**
   * Types that the value of the field depends on, in addition to the types that it returns. `[]` means none, and
   * `['*']` means any.
   */
  readonly dependsOn?: readonly string[] | undefined
  /**
   * Request headers that a resolver of the config reads. `[]` means that the result is the same for every caller. On
   * fields of a source it adds to the headers that the source declares. Fields with a custom resolver are neither
   * cached nor shared between live clients unless it is set. Default: unknown.
   */
  readonly variesBy?: readonly string[] | undefined
}

/** A Yoga or Envelop plugin of the config. */
export type ConfigPlugin = Plugin & {
  /**
   * Names of all request headers that change how the plugin changes results. `[]` means none. The response cache
   * requires `session`, and live queries require `contextKey`, if a plugin without `readsHeaders` hooks into parse,
   * validate, execute or the schema. Example: `Object.assign(usePlugin(), { readsHeaders: [] })`. Default: unknown.
   */
  readonly readsHeaders?: readonly string[] | undefined
}

/** The sections of the config with custom code, and with declarations about fields. */
export interface OwnCodeSections {
  /**
   * Declarations by schema coordinate, for any field: `{ 'Org.memberCount': { dependsOn: ['User'] } }`. `vinyasa check`
   * lists fields that need one.
   */
  readonly dependencies?: Readonly<Record<string, DependencyStatement>> | undefined
  /**
   * Fields that identify an entity, in order of preference, e.g. `['sku', 'id']`. The response cache, live queries and
   * the events of mutations use them. Default `['id']`.
   */
  readonly idFields?: readonly string[] | undefined
  /** Additional Yoga or Envelop plugins. They run before the response cache, so they also see cache hits. */
  readonly plugins?: readonly ConfigPlugin[] | undefined
  /**
   * SDL that extends the schema of the sources, with the names that clients see: `extend type Order { … }`, new types,
   * and root fields.
   */
  readonly typeDefs?: string | readonly string[] | undefined
  /**
   * Resolvers for `typeDefs`. Their context contains `sources`, with each source by its name. Parent objects have the
   * names that clients see.
   */
  readonly resolvers?: IResolvers | undefined
}
