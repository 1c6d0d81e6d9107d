import type { MetadataEntries, StatusName, TransportCall } from '@vinyasa/grpc-transport'
import type { Clock } from '@vinyasa/base'
import type { CallObserver, ObservedCall, ObservedEnd, ObservedReply } from '../runtime/call.ts'
import type { Callable, CallSite } from './call-site.ts'

/** One call, as those see it who asked to be told. */
export interface WatchedCall {
  /** The listeners that the transport is to call. */
  readonly listeners: Pick<TransportCall, 'onHeaders' | 'onTrailers'>
  /** It is sent, for the first time or again. */
  attempt(): void
  /** Only the first end counts. `hasLeft`: those who asked want no reply any more. */
  end(status: StatusName, hasLeft?: boolean): void
}

export type CallWatch = (method: Callable, kind: ObservedCall['kind'], site: CallSite) => WatchedCall

/** Tells observers of calls, and listeners of replies. */
export function createCallWatch(options: {
  readonly sourceName: string
  readonly clock: Clock
  readonly observe: CallObserver | undefined
  readonly onReply: ((reply: ObservedReply, site: CallSite) => void) | undefined
}): CallWatch {
  const { sourceName, clock, observe, onReply } = options
  if (!observe && !onReply) return () => UNWATCHED

  return ({ desc }, kind, site) => {
    const { context } = site
    const call = { source: sourceName, service: desc.parent.typeName, method: desc.name, kind, context }
    const startedAt = clock.now()
    let attempts = 0
    let headers: MetadataEntries = []
    let trailers: MetadataEntries = []
    let hasEnded = false
    let onEnd: ((end: ObservedEnd) => void) | void
    unlessItThrows(() => (onEnd = observe?.(call)))
    return {
      listeners: onReply
        ? {
            onHeaders: (metadata) => void (headers = metadata),
            onTrailers: (metadata) => void (trailers = metadata),
          }
        : {},
      attempt() {
        attempts++
        headers = trailers = []
      },
      end(status, hasLeft = false) {
        if (hasEnded) return
        hasEnded = true
        const callerLeft = hasLeft && status === 'CANCELLED'
        unlessItThrows(() => onEnd?.({ status, durationMs: clock.now() - startedAt, attempts, callerLeft }))
        unlessItThrows(() => onReply?.({ ...call, status, headers, trailers }, site))
      },
    }
  }
}

const UNWATCHED: WatchedCall = { listeners: {}, attempt() {}, end() {} }

function unlessItThrows(tell: () => void): void {
  try {
    tell()
  } catch {
    // Whoever looks at a call must not fail it.
  }
}
