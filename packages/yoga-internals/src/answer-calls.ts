import { type Abortable, Ending, onAbort } from '@vinyasa/base'

/** Ends the calls that are made for one answer, together: it is given up, or whoever waits for it leaves. */
export class AnswerCalls {
  readonly ending: Ending = new Ending()
  #letGo: (() => void) | undefined

  /** Ends them also when this one aborts, until it is let go. Whoever waits is the same for all of an answer's calls. */
  follow(leaving: Abortable): void {
    this.#letGo ??= onAbort(leaving, () => this.ending.abort(leaving.reason))
  }

  giveUp(): void {
    this.ending.abort()
  }

  /** A request may live for hours after one of its answers. */
  letGo(): void {
    this.#letGo?.()
  }
}
