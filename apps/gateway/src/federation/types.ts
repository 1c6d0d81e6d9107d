/** How references to an entity are resolved. */
export interface FederationEntity {
  /** Its key, a selection of its fields: `id`, or `org { id } number`. Several: each is a key. */
  readonly key: string | readonly string[]
  /**
   * The field of `Query` that gives it, for the first key. Default: the one field that gives the type, takes the key's
   * fields as arguments of the same names and requires no other. `false`: references cannot be resolved here.
   */
  readonly field?: string | false | undefined
  /** The field's arguments by the key's fields. Default: arguments are called as the key's fields are. */
  readonly args?: Readonly<Record<string, string>> | undefined
  /**
   * For a field that takes a list of keys and gives a list: the field of its items that is the key. All references of a
   * request are one call then. Default: the key's field, where the argument is a list.
   */
  readonly itemKey?: string | undefined
}

/** The gateway as a subgraph of Apollo Federation 2. */
export interface FederationConfig {
  /** Entities by type, beside those with `@key` in `typeDefs` or `(graphql.entity)` in a proto. */
  readonly entities?: Readonly<Record<string, FederationEntity>> | undefined
  /** References that one `_entities` may be asked for; with more it is refused as a whole. Default 1,000; 0: none. */
  readonly maxReferences?: number | undefined
}

/** The section of the config that makes the gateway a subgraph. */
export interface FederationSections {
  /**
   * The gateway as a subgraph of Apollo Federation 2, over all of its sources and `typeDefs`: `true` for the entities that
   * say so themselves. Default false.
   */
  readonly federation?: boolean | FederationConfig | undefined
}
