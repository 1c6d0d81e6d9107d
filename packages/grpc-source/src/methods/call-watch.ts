import type { MetadataEntries, StatusName, TransportCall } from '@vinyasa/grpc-transport'
import type { Clock } from '@vinyasa/core'
import type { CallEnded } from '@vinyasa/source-kit'
import { toEntries } from '../runtime/metadata.ts'
import { describeFailure, isReached } from '../runtime/faults.ts'
import type { CallObserver, ObservedEnd, ObservedCall, ObservedReply } from '../runtime/call.ts'
import type { Callable, CallSite } from './call-site.ts'

/** One call, as those see it who asked to be told. */
export interface WatchedCall {
  /** The listeners that the transport is to call. */
  readonly listeners: Pick<TransportCall, 'onHeaders' | 'onTrailers'>
  /** Adds what observers send with the call. */
  withHeaders(metadata: MetadataEntries): MetadataEntries
  /** Sends the call in the observers' context. */
  within<T>(send: () => T): T
  /** It is sent, for the first time or again. */
  attempt(): void
  /** Only the first end counts. `hasLeft`: those who asked want no reply any more. */
  end(status: StatusName, hasLeft?: boolean, error?: unknown): void
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
    let onEnd: CallEnded<ObservedEnd> | void
    unlessItThrows(() => (onEnd = observe?.(call)))
    return {
      listeners: onReply
        ? {
            onHeaders: (metadata) => void (headers = metadata),
            onTrailers: (metadata) => void (trailers = metadata),
          }
        : {},
      withHeaders(metadata) {
        const added = onEnd?.headers
        if (!added) return metadata
        return [...metadata.filter(([name]) => added[name] === undefined), ...toEntries(added)]
      },
      within: (send) => (onEnd?.within ? onEnd.within(send) : send()),
      attempt() {
        attempts++
        headers = trailers = []
      },
      end(status, hasLeft = false, error) {
        if (hasEnded) return
        hasEnded = true
        const callerLeft = hasLeft && status === 'CANCELLED'
        const reason = error === undefined ? undefined : describeFailure(error)
        const durationMs = clock.now() - startedAt
        unlessItThrows(() =>
          onEnd?.({ status, reason, isReached: isReached(status), durationMs, attempts, callerLeft }),
        )
        unlessItThrows(() => onReply?.({ ...call, status, headers, trailers }, site))
      },
    }
  }
}

const UNWATCHED: WatchedCall = {
  listeners: {},
  withHeaders: (metadata) => metadata,
  within: (send) => send(),
  attempt() {},
  end() {},
}

function unlessItThrows(tell: () => void): void {
  try {
    tell()
  } catch {
    // Whoever looks at a call must not fail it.
  }
}
