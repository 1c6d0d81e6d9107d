/** How many items a list has, as far as that is known before it is asked for. */
export interface ListSizeConfig {
  /** How many it has where no slicing argument says. Default: `cost.listSize`. */
  readonly assumedSize?: number | undefined
  /** Arguments with the number of items, or with a list of what each item is for; `page.first` for a field of an input object. */
  readonly slicingArguments?: readonly string[] | undefined
  /** Fields of the object given that are of this size, as `edges` of a connection. Default: the field itself is. */
  readonly sizedFields?: readonly string[] | undefined
  /** Refuses operations that give none, or more than one, of the slicing arguments. Default true. */
  readonly requireOneSlicingArgument?: boolean | undefined
}

/** The cost of a field or a type. */
export interface CostRule {
  /**
   * Cost of one value, or of each item of a list. Default for a field: that of its type; for objects 1, for scalars and
   * enums 0; each mutation costs 10 more. A field of an input object adds it wherever it is given; default 0.
   */
  readonly weight?: number | undefined
  /** Costs of arguments by name, added where they are given. Default 0. */
  readonly arguments?: Readonly<Record<string, number>> | undefined
  /** Only for fields. */
  readonly listSize?: ListSizeConfig | undefined
}

/** How much one operation may ask for, by `@cost` and `@listSize` of the GraphQL Cost Directives specification. */
export interface CostConfig {
  /** The highest cost that an operation may have; 0: any. Default: 0, in the production preset 100_000. */
  readonly max?: number | undefined
  /** Tells clients what each operation may cost, as `extensions.cost`: `{ estimated, max, actual }`. Default false. */
  readonly includeExtensionMetadata?: boolean | undefined
  /** How many items a list has where no rule says. Default 10. */
  readonly listSize?: number | undefined
  /** By schema coordinate: `Query.users`, `Filter.text` of an input object, or `User` for each of a type. Over what directives say. */
  readonly fields?: Readonly<Record<string, CostRule>> | undefined
}

/** The section of the config that limits what an operation costs. */
export interface CostSections {
  /** How much one operation may ask for. */
  readonly cost?: CostConfig | undefined
}
