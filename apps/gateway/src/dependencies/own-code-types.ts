import type { IResolvers } from '@graphql-tools/utils'
import type { Plugin } from 'graphql-yoga'

/** Facts about a field that types cannot show. */
export interface DependencyStatement {
  /** Types that a mutation changes besides what its result is made of. `[]`: none; `['*']`: any. */
  readonly changes?: readonly string[] | undefined
  /** Types of which the field is computed besides those that it shows. `[]`: none; `['*']`: any. */
  readonly dependsOn?: readonly string[] | undefined
  /**
   * Request headers that a resolver of the config reads; `[]`: the result is the same for every client. Default: unknown; the
   * field is neither cached nor shared between live clients. On other fields it adds to what their source declares.
   */
  readonly variesBy?: readonly string[] | undefined
}

/** A Yoga or Envelop plugin of the config. */
export type ConfigPlugin = Plugin & {
  /**
   * Names of all request headers that change what the plugin does to results; `[]`: none. Default: unknown; if the plugin hooks
   * into parse, validate, execute or the schema, the response cache needs `session`, and live queries need `contextKey`.
   * `Object.assign(usePlugin(), { readsHeaders: [] })`
   */
  readonly readsHeaders?: readonly string[] | undefined
}

/** The sections of the config with code, and with what is said of fields. */
export interface OwnCodeSections {
  /**
   * Statements by schema coordinate, for any field: `{ 'Org.memberCount': { dependsOn: ['User'] } }`. `vinyasa check`
   * lists the fields that lack one.
   */
  readonly dependencies?: Readonly<Record<string, DependencyStatement>> | undefined
  /** Further Yoga or Envelop plugins. They stand before the response cache, so that they see hits like misses. */
  readonly plugins?: readonly ConfigPlugin[] | undefined
  /**
   * SDL that adds to the schema of the sources, under the names that clients know: `extend type Order { … }`, types with
   * fields of the sources' types, root fields.
   */
  readonly typeDefs?: string | readonly string[] | undefined
  /**
   * Resolvers for `typeDefs`; their context holds `sources`, each callable by its name. What they get as their parent has
   * the names that clients know.
   */
  readonly resolvers?: IResolvers | undefined
}
