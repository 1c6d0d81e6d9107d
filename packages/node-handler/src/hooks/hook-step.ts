import { after, attempt, type MaybePromise } from '@vinyasa/core'
import { type Hook, runHooks } from '@vinyasa/core/pipeline'

/** The hooks of one step, in the order of the plugins. */
export interface StepHooks {
  readonly all: readonly Hook[]
  /** The hooks that the prepared path does not run ahead. */
  readonly behind: readonly Hook[]
}

export function stepHooks(all: readonly Hook[], runsAhead: (hook: Hook) => boolean): StepHooks {
  return { all, behind: all.filter((hook) => !runsAhead(hook)) }
}

/**
 * One step of a request. All hooks receive the same payload, and each hook runs once. The prepared path runs the hooks
 * of third-party plugins before ours. If the request then leaves that path, it keeps the step.
 */
export abstract class HookStep {
  #ranAhead = false
  #thrown: { readonly error: unknown } | undefined

  /** The response with which a hook ended the request. */
  response: Response | undefined
  protected abstract readonly payload: object
  /** Whether the hooks changed nothing that later steps use. */
  protected abstract readonly isUntouched: boolean

  /**
   * Runs these hooks before all other hooks. Returns false if the prepared path cannot continue, because a hook threw
   * or changed something.
   */
  runAhead(hooks: readonly Hook[]): MaybePromise<boolean> {
    this.#ranAhead = true
    return attempt<boolean>(
      () => after(this.#run(hooks), () => this.isUntouched),
      (error) => {
        this.#thrown = { error }
        return false
      },
    )
  }

  /** Runs the hooks that have not run ahead. Throws the error of a hook that ran ahead. */
  run({ all, behind }: StepHooks): MaybePromise<void> {
    if (this.#thrown) throw this.#thrown.error
    return this.response === undefined ? this.#run(this.#ranAhead ? behind : all) : undefined
  }

  /** Receives the return value of each hook. */
  protected onReturn(_returned: unknown): void {}

  #run(hooks: readonly Hook[]): MaybePromise<void> {
    return runHooks(
      hooks,
      this.payload,
      (returned) => this.onReturn(returned),
      () => this.response !== undefined,
    )
  }
}
