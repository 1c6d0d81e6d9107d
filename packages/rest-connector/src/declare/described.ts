export interface Described {
  /** The description in the schema. */
  readonly description?: string | undefined
}

export interface Deprecable extends Described {
  /** The deprecation reason. A required argument cannot be deprecated. */
  readonly deprecated?: string | undefined
}
