import type { DirectiveNode } from 'graphql'
import type { DeferClock } from '../options.ts'
import { withSignal } from './fragment-context.ts'

/** What all patches of one `@defer` in the document have in common: one timer, one signal, one context. */
export interface FragmentUsage<Member> {
  readonly contextValue: unknown
  readonly signal: AbortSignal
  /** The patches that are being worked on. */
  readonly open: ReadonlySet<Member>
}

export interface FragmentUsages<Member> {
  /** The patch starts: it shares the usage's time with those that are under way. */
  begin(usage: DirectiveNode, member: Member): FragmentUsage<Member>
  /** The patch is done or no longer wanted. With the last one the timer stops. */
  end(usage: DirectiveNode, member: Member): void
  /** Stops everything that is open and cancels its calls. */
  close(): void
}

export function createFragmentUsages<Member>(input: {
  readonly contextValue: unknown
  readonly timeoutMs: number
  readonly clock: DeferClock
  readonly onTimeout: (members: readonly Member[]) => void
}): FragmentUsages<Member> {
  const { contextValue, timeoutMs, clock, onTimeout } = input
  const usages = new Map<DirectiveNode, OpenUsage<Member>>()

  function openUsage(node: DirectiveNode): OpenUsage<Member> {
    const controller = new AbortController()
    const { signal } = controller
    const usage: OpenUsage<Member> = {
      contextValue: withSignal(contextValue, signal),
      signal,
      open: new Set(),
      controller,
      timer: undefined,
    }
    if (timeoutMs > 0) {
      usage.timer = clock.setTimeout(() => {
        usages.delete(node)
        const members = [...usage.open]
        // First the answer, so that what the cancelled calls report does not become part of it.
        onTimeout(members)
        controller.abort(new DOMException('The deferred fragment took too long.', 'TimeoutError'))
      }, timeoutMs)
    }
    usages.set(node, usage)
    return usage
  }

  return {
    begin(node, member) {
      const usage = usages.get(node) ?? openUsage(node)
      usage.open.add(member)
      return usage
    },
    end(node, member) {
      const usage = usages.get(node)
      if (!usage?.open.delete(member) || usage.open.size > 0) return
      usages.delete(node)
      clock.clearTimeout(usage.timer)
      // Nobody waits any longer for what these patches may still have under way.
      usage.controller.abort()
    },
    close() {
      for (const usage of usages.values()) {
        clock.clearTimeout(usage.timer)
        usage.controller.abort()
      }
      usages.clear()
    },
  }
}

interface OpenUsage<Member> extends FragmentUsage<Member> {
  readonly open: Set<Member>
  readonly controller: AbortController
  timer: unknown
}
