import type { DirectiveNode } from 'graphql'
import { Ending } from '@vinyasa/base'
import type { Timers } from '../options.ts'

export interface FragmentUsages<Member> {
  of(usage: DirectiveNode): FragmentUsage<Member>
  /** Stops the timers and cancels the calls of what is still waited for. */
  close(): void
}

interface UsagesInput<Member> {
  readonly timeoutMs: number
  readonly clock: Timers
  readonly onTimeout: (members: readonly Member[]) => void
}

export function createFragmentUsages<Member>(input: UsagesInput<Member>): FragmentUsages<Member> {
  const usages = new Map<DirectiveNode, FragmentUsage<Member>>()
  return {
    of(node) {
      let usage = usages.get(node)
      if (!usage) {
        // Once the usage is retired, later patches of the same directive start afresh.
        usages.set(node, (usage = new FragmentUsage(input, () => usages.delete(node))))
      }
      return usage
    },
    close() {
      for (const usage of usages.values()) usage.close()
      usages.clear()
    },
  }
}

/** One timer and one ending that all patches of one `@defer` in the document share. */
export class FragmentUsage<Member> {
  readonly #input: UsagesInput<Member>
  readonly #retire: () => void
  readonly #waiting = new Set<Member>()
  #ending: Ending | undefined
  #timer: unknown

  constructor(input: UsagesInput<Member>, retire: () => void) {
    this.#input = input
    this.#retire = retire
  }

  /** Made when it is asked for. */
  get ending(): Ending {
    return (this.#ending ??= new Ending())
  }

  /** The patch has something to wait for: it shares the usage's time with those that wait already. */
  wait(member: Member): void {
    const { clock, timeoutMs } = this.#input
    if (this.#waiting.size === 0 && timeoutMs > 0) {
      this.#timer = clock.setTimeout(() => this.#timeOut(), timeoutMs)
    }
    this.#waiting.add(member)
  }

  /** The patch waits no longer. With the last one the timer stops. */
  done(member: Member): void {
    if (this.#waiting.delete(member) && this.#waiting.size === 0) this.#stopTimer()
  }

  /** The patch is no longer wanted. When no other one is, the usage's calls are cancelled. */
  drop(member: Member): void {
    if (!this.#waiting.has(member)) return
    this.done(member)
    if (this.#waiting.size > 0) return
    this.#retire()
    this.#cancel()
  }

  close(): void {
    this.#stopTimer()
    if (this.#waiting.size > 0) this.#cancel()
  }

  #timeOut(): void {
    const members = [...this.#waiting]
    this.#waiting.clear()
    this.#stopTimer()
    this.#retire()
    // First the answer, so that what the cancelled calls report does not become part of it.
    this.#input.onTimeout(members)
    this.#cancel(new DOMException('The deferred fragment took too long.', 'TimeoutError'))
  }

  /** For those that ask for the ending later, too: a resolver may do so after an await of its own. */
  #cancel(reason?: DOMException): void {
    this.ending.abort(reason)
  }

  #stopTimer(): void {
    this.#input.clock.clearTimeout(this.#timer)
  }
}
