/** Why an operation has no plan; found while it is compiled. Holds names of fields and types, never values. */
export class NotPlannable extends Error {
  override name = 'NotPlannable'
}

/**
 * Thrown where ordinary execution has to say what the answer is: a null where none may be, a value of another
 * kind, …
 */
export class FallBack extends Error {
  override name = 'FallBack'
}
