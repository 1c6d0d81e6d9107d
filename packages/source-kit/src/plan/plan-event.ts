/**
 * Reports whether an operation has a plan, and why not. One source receives it: the source of the operation's first root
 * field, otherwise the server's first source.
 */
export interface PlanEvent {
  readonly operationName: string | undefined
  /**
   * `planned` or `unplanned`: reported once per operation of a document, when it is first executed. `fell-back`: reported each
   * time that graphql-js executes a planned operation because of the results of its calls.
   */
  readonly outcome: 'planned' | 'unplanned' | 'fell-back'
  /** Why the operation has no plan, or why the plan was abandoned. It contains names of fields and types, but no values. */
  readonly reason: string | undefined
}
