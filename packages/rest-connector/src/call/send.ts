import { isStreamed } from '../bodies/wire-body.ts'
import { attempt, BadStatus, type RestResponse } from '../http/attempt.ts'
import { Deadline, DeadlineExceeded, type Ending } from '../http/ending.ts'
import type { WireRequest } from '../http/transport.ts'
import type { CallInfo } from '../interceptors/interceptor.ts'
import { faultOf } from '../retry/faults.ts'
import { retryPresets } from '../retry/retry-policy.ts'
import { retrying } from '../retry/retry.ts'
import { AttemptInfo, type Calling } from './calling.ts'
import { prepare } from './prepare.ts'

/** All the attempts of one call. */
export async function send(
  calling: Calling,
  request: WireRequest,
  prepared: WireRequest | undefined,
  ending: Ending | undefined,
): Promise<RestResponse> {
  const { endpoint, settings, progress } = calling
  const { retry, random, budget, breaker, totalTimeoutMs, preparing } = settings
  const { clock } = settings.attempting
  const { counters } = settings.reading
  // The first attempt's deadline is the earlier one; the whole call's matters once there is another.
  const total = new Deadline(clock, totalTimeoutMs, ending, endpoint.timeoutMs < totalTimeoutMs)
  const endsAt = clock.now() + totalTimeoutMs
  budget.call()
  try {
    return await retrying(
      async (number) => {
        const deadline = new Deadline(clock, endpoint.timeoutMs, total)
        const info = new AttemptInfo(calling, number, deadline)
        try {
          const outgoing = (number === 1 && prepared) || (await prepare(request, info, preparing))
          progress.sent = outgoing
          return await breaker.run(() => {
            progress.attempts = number
            counters.requests++
            if (number > 1) counters.retries++
            return observed(calling, info, outgoing, deadline)
          })
        } finally {
          deadline.stop()
        }
      },
      {
        // A body that was read as it was sent is gone, and cannot be sent again.
        policy: isStreamed(request.body) && !request.body.isRepeatable ? retryPresets.disabled : retry,
        method: endpoint.method,
        clock,
        random,
        ending: total,
        endsAt,
        allow() {
          if (!budget.take()) return false
          total.startTimer(Math.max(0, endsAt - clock.now()))
          return true
        },
      },
    )
  } finally {
    total.stop()
  }
}

async function observed(
  { endpoint, settings, progress, isConditional, asker }: Calling,
  info: CallInfo,
  prepared: WireRequest,
  ending: Ending,
): Promise<RestResponse> {
  const { answer } = endpoint.declared
  const { logBody, observe, attempting } = settings
  const facts = { connector: info.connector, endpoint: info.endpoint, attempt: info.attempt }
  const { method, headers, body } = prepared
  if (logBody && typeof body === 'string')
    logBody('REST request', { ...facts, method }, headers['content-type'], body)
  const onBody =
    logBody &&
    ((status: number, contentType: string | undefined, body: string): void =>
      logBody('REST response', { ...facts, status }, contentType, body))
  const onRedirect = (): void => void (progress.outcome = 'unknown')
  const ended = observe?.(info)
  const request = ended?.headers ? { ...prepared, headers: { ...headers, ...ended.headers } } : prepared
  const send = (): Promise<RestResponse> =>
    attempt(request, ending, { ...attempting, answer, isConditional, asker, onBody, onRedirect })
  try {
    const response = await (ended?.within ? ended.within(send) : send())
    ended?.({ status: response.status })
    return response
  } catch (error) {
    if (faultOf(error).outcome === 'unknown') progress.outcome = 'unknown'
    const status = error instanceof BadStatus ? error.status : undefined
    const hasLeft = ending.hasEnded && !(ending.reason instanceof DeadlineExceeded)
    ended?.({ status, error, callerLeft: status === undefined && hasLeft })
    throw error
  }
}
