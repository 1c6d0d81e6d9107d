import { after, attempt, type MaybePromise } from '@vinyasa/core'
import { type Hook, runHooks } from '@vinyasa/core/pipeline'

/** The hooks of one step, in the order of the plugins. */
export interface StepHooks {
  readonly all: readonly Hook[]
  /** Without those that the prepared path runs ahead. */
  readonly behind: readonly Hook[]
}

export function stepHooks(all: readonly Hook[], runsAhead: (hook: Hook) => boolean): StepHooks {
  return { all, behind: all.filter((hook) => !runsAhead(hook)) }
}

/**
 * One step of a request whose hooks are called with one payload, each of them once. The prepared path calls other people's
 * hooks ahead of ours; a request that then leaves that path takes the step along.
 */
export abstract class HookStep {
  #ranAhead = false
  #thrown: { readonly error: unknown } | undefined

  /** The response that a hook has ended the request with. */
  response: Response | undefined
  protected abstract readonly payload: object
  /** No hook has changed what comes next. */
  protected abstract readonly isUntouched: boolean

  /** Calls these hooks ahead of the others. False where the prepared path cannot go on with what they did or threw. */
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

  /** Calls the hooks that have not run ahead, or throws what one of those has thrown. */
  run({ all, behind }: StepHooks): MaybePromise<void> {
    if (this.#thrown) throw this.#thrown.error
    return this.response === undefined ? this.#run(this.#ranAhead ? behind : all) : undefined
  }

  /** Hears what each hook has returned. */
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
