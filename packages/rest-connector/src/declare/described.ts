export interface Described {
  /** The description in the schema. */
  readonly description?: string | undefined
}

export interface Deprecable extends Described {
  /** Why it should not be used any more. A required argument cannot be deprecated. */
  readonly deprecated?: string | undefined
}
