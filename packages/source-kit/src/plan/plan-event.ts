/**
 * A report on plans, which shows what operations are served without one, and why. One source is told: that of
 * the operation's first root field, or else the server's first.
 */
export interface PlanEvent {
  readonly operationName: string | undefined
  /**
   * `planned` or `unplanned`: once for an operation of a document, when it is first executed. `fell-back`: each time a
   * planned operation was executed ordinarily all the same, because of what its calls brought.
   */
  readonly outcome: 'planned' | 'unplanned' | 'fell-back'
  /** Why there is no plan, or why it was given up. Holds names of fields and types, never values. */
  readonly reason: string | undefined
}
