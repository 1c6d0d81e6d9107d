import { compileAnnouncement, type Announcement } from './announce.ts'
import { attempt, type RestResponse } from './attempt.ts'
import type { Clock } from './clock.ts'
import { startDeadline } from './deadline.ts'
import type { CompiledEndpoint } from './endpoint.ts'
import { explain } from './explain.ts'
import type { InvalidationBus } from '@vinyasa/invalidation'
import type { RetryOptions } from './retry-policy.ts'
import { retrying } from './retry.ts'
import type { Args } from './template.ts'
import type { Transport } from './transport.ts'

export interface CallSettings {
  readonly connector: string
  readonly transport: Transport
  readonly clock: Clock
  readonly random: () => number
  readonly retry: RetryOptions
  readonly totalTimeoutMs: number
  readonly maxResponseBytes: number
  readonly bus: InvalidationBus | undefined
}

/** Whatever a caller's surroundings add to a call. */
export interface CallScope {
  /** Ends the call, its waits included. */
  readonly signal?: AbortSignal | undefined
  /** The GraphQL context of the operation, when there is one. */
  readonly context?: object | undefined
}

export type Call = (args: Args, scope: CallScope) => Promise<unknown>

/** One endpoint, ready to be called. */
export function createCall(endpoint: CompiledEndpoint, settings: CallSettings): Call {
  const { connector, bus } = settings
  const announcement = compileAnnouncement(endpoint)

  return async (args, scope) => {
    const progress = { attempts: 0 }
    try {
      const response = await send(endpoint, args, scope, settings, progress)
      const result = endpoint.extract(response.body)
      if (bus && endpoint.isMutation) await publish(bus, announcement, args, result)
      return result
    } catch (error) {
      const attempts = progress.attempts || undefined
      throw explain(error, { connector, endpoint: endpoint.name, attempts })
    }
  }
}

async function send(
  endpoint: CompiledEndpoint,
  args: Args,
  scope: CallScope,
  { transport, clock, random, retry, totalTimeoutMs, maxResponseBytes }: CallSettings,
  progress: { attempts: number },
): Promise<RestResponse> {
  const request = endpoint.render(args)
  const total = startDeadline(clock, totalTimeoutMs, [scope.signal])
  const endsAt = clock.now() + totalTimeoutMs
  try {
    return await retrying(
      async (number) => {
        progress.attempts = number
        const deadline = startDeadline(clock, endpoint.timeoutMs, [total.signal])
        try {
          return await attempt(transport, request, maxResponseBytes, deadline.signal)
        } finally {
          deadline.stop()
        }
      },
      {
        policy: retry,
        method: endpoint.method,
        clock,
        random,
        signal: total.signal,
        endsAt,
        allow: () => true,
      },
    )
  } finally {
    total.stop()
  }
}

async function publish(
  bus: InvalidationBus,
  announcement: Announcement,
  args: Args,
  result: unknown,
): Promise<void> {
  const events = announcement(args, result)
  if (events.length > 0) await bus.publish(events)
}
