/** How references to an entity are resolved. */
export interface FederationEntity {
  /** The key, as a selection of fields: `id`, or `org { id } number`. A list declares several keys. */
  readonly key: string | readonly string[]
  /**
   * Field of `Query` that returns the entity by the first key. `false`: references cannot be resolved here. Default:
   * the only field that returns the type, takes the fields of the key as arguments of the same names, and requires no
   * other argument.
   */
  readonly field?: string | false | undefined
  /** Fields of the key by argument of `field`. Default: the arguments have the names of the fields. */
  readonly args?: Readonly<Record<string, string>> | undefined
  /**
   * Field of the returned items that contains the key, if `field` takes a list of keys and returns a list. All
   * references of a request are then one call. Default: the field of the key, if the argument is a list.
   */
  readonly itemKey?: string | undefined
}

/** Makes the gateway a subgraph of Apollo Federation 2. */
export interface FederationConfig {
  /** Entities by type, in addition to types with `@key` in `typeDefs` or `(graphql.entity)` in a proto. */
  readonly entities?: Readonly<Record<string, FederationEntity>> | undefined
  /**
   * Maximum number of references in one `_entities` field. The field fails if there are more. 0 refuses all references.
   * Default 1,000.
   */
  readonly maxReferences?: number | undefined
}

/** The section of the config that makes the gateway a subgraph. */
export interface FederationSections {
  /**
   * Makes the gateway a subgraph of Apollo Federation 2, with all sources and `typeDefs`. `true` uses only the entities
   * that SDL and protos declare. Default false.
   */
  readonly federation?: boolean | FederationConfig | undefined
}
