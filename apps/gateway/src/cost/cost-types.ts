/** The size of a list, estimated before execution. */
export interface ListSizeConfig {
  /** Number of items if no slicing argument sets it. Default: `cost.listSize`. */
  readonly assumedSize?: number | undefined
  /**
   * Arguments that set the number of items, or that contain a list with a value for each item. `page.first` is a field
   * of an input object.
   */
  readonly slicingArguments?: readonly string[] | undefined
  /**
   * Fields of the returned object that contain the items, such as `edges` of a connection. Default: the field itself is
   * the list.
   */
  readonly sizedFields?: readonly string[] | undefined
  /** Refuses operations that set none, or more than one, of the slicing arguments. Default true. */
  readonly requireOneSlicingArgument?: boolean | undefined
}

/** The cost of a field or a type. */
export interface CostRule {
  /**
   * Cost of one value, or of each item of a list. Objects cost 1, scalars and enums 0, and mutations 10 more. The
   * weight of a field of an input object is added each time that the field is set, and is 0 by default. Default: the
   * weight of the type.
   */
  readonly weight?: number | undefined
  /** Costs by argument name, added if the argument is set. Default 0. */
  readonly arguments?: Readonly<Record<string, number>> | undefined
  /** The size of a list, estimated before execution. Only for fields. */
  readonly listSize?: ListSizeConfig | undefined
}

/**
 * Limits the cost of an operation, as `@cost` and `@listSize` of the GraphQL Cost Directives specification define it.
 */
export interface CostConfig {
  /** Maximum estimated cost of an operation. 0 means no limit. Default 0; production 100_000. */
  readonly max?: number | undefined
  /**
   * Adds the cost of each operation to its response, as `extensions.cost`: `{ estimated, max, actual }`. Default false.
   */
  readonly includeExtensionMetadata?: boolean | undefined
  /** Number of items of lists without a rule. Default 10. */
  readonly listSize?: number | undefined
  /**
   * Rules by schema coordinate: `Query.users`, `Filter.text` of an input object, or `User` for each value of a type.
   * They override directives.
   */
  readonly fields?: Readonly<Record<string, CostRule>> | undefined
}

/** The section of the config about the cost of operations. */
export interface CostSections {
  /**
   * Limits the cost of an operation, as `@cost` and `@listSize` of the GraphQL Cost Directives specification define it.
   */
  readonly cost?: CostConfig | undefined
}
