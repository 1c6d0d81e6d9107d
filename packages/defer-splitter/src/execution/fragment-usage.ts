import type { DirectiveNode } from 'graphql'
import type { DeferClock } from '../options.ts'
import { withSignal } from './fragment-context.ts'

/** What all patches of one `@defer` in the document have in common: one timer, one signal, one context. */
export interface FragmentUsage<Member> {
  readonly contextValue: unknown
  readonly signal: AbortSignal
  /** The patch has something to wait for: it shares the usage's time with those that wait already. */
  wait(member: Member): void
  /** The patch waits no longer. With the last one the timer stops. */
  done(member: Member): void
  /** The patch is no longer wanted. When no other one is, the usage's calls are cancelled. */
  drop(member: Member): void
}

export interface FragmentUsages<Member> {
  of(usage: DirectiveNode): FragmentUsage<Member>
  /** Stops the timers and cancels the calls of what is still waited for. */
  close(): void
}

export function createFragmentUsages<Member>(input: {
  readonly contextValue: unknown
  readonly timeoutMs: number
  readonly clock: DeferClock
  readonly onTimeout: (members: readonly Member[]) => void
}): FragmentUsages<Member> {
  const { contextValue, timeoutMs, clock, onTimeout } = input
  const closers = new Map<DirectiveNode, () => void>()
  const usages = new Map<DirectiveNode, FragmentUsage<Member>>()

  function createUsage(node: DirectiveNode): FragmentUsage<Member> {
    const controller = new AbortController()
    const { signal } = controller
    const waiting = new Set<Member>()
    let timer: unknown

    /** What comes later under the same directive starts afresh. */
    function retire(): void {
      clock.clearTimeout(timer)
      usages.delete(node)
      closers.delete(node)
    }

    function timeOut(): void {
      const members = [...waiting]
      waiting.clear()
      retire()
      // First the answer, so that what the cancelled calls report does not become part of it.
      onTimeout(members)
      controller.abort(new DOMException('The deferred fragment took too long.', 'TimeoutError'))
    }

    function done(member: Member): void {
      if (waiting.delete(member) && waiting.size === 0) clock.clearTimeout(timer)
    }

    closers.set(node, () => {
      clock.clearTimeout(timer)
      if (waiting.size > 0) controller.abort()
    })
    return {
      contextValue: withSignal(contextValue, signal),
      signal,
      wait(member) {
        if (waiting.size === 0 && timeoutMs > 0) timer = clock.setTimeout(timeOut, timeoutMs)
        waiting.add(member)
      },
      done,
      drop(member) {
        if (!waiting.has(member)) return
        done(member)
        if (waiting.size > 0) return
        retire()
        controller.abort()
      },
    }
  }

  return {
    of(node) {
      let usage = usages.get(node)
      if (!usage) usages.set(node, (usage = createUsage(node)))
      return usage
    },
    close() {
      for (const close of closers.values()) close()
      closers.clear()
      usages.clear()
    },
  }
}
