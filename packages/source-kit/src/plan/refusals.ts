/**
 * Thrown while an operation is compiled if it cannot have a plan. The message contains names of fields and types, but
 * no values.
 */
export class NotPlannable extends Error {
  override name = 'NotPlannable'
}

/** Thrown if only graphql-js can produce the response, for example for null in a non-null field. */
export class FallBack extends Error {
  override name = 'FallBack'
}
