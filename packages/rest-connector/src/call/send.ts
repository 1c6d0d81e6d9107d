import { isPromise, unlessAborted, type Ending } from '@vinyasa/base'
import { isStreamed } from '../bodies/wire-body.ts'
import { attempt, BadStatus, type AttemptCall, type RestResponse } from '../http/attempt.ts'
import { Deadline, DeadlineExceeded, wait } from '../http/ending.ts'
import type { WireRequest } from '../http/transport.ts'
import type { CallInfo } from '../interceptors/interceptor.ts'
import { faultOf } from '../retry/faults.ts'
import { retryPresets } from '../retry/retry-policy.ts'
import { retryDelay } from '../retry/retry.ts'
import { AttemptInfo, type Calling, type Progress } from './calling.ts'
import type { LogBody } from './log-bodies.ts'
import { prepare, type PrepareSettings } from './prepare.ts'

/** All the attempts of one call. */
export async function send(
  calling: Calling,
  request: WireRequest,
  prepared: WireRequest | undefined,
  ending: Ending | undefined,
): Promise<RestResponse> {
  const { endpoint, settings, progress } = calling
  const { random, budget, breaker, preparing } = settings
  const { totalTimeoutMs = Math.max(60_000, endpoint.timeoutMs) } = settings
  const { clock } = settings.attempting
  const { counters } = settings.reading
  const endsAt = clock.now() + totalTimeoutMs
  // The first attempt's deadline stands in for it.
  let whole: Deadline | undefined
  let isRenewed = false
  const { body } = request
  // A body that was read as it was sent is gone, and cannot be sent again.
  const isRepeatable = !isStreamed(body) || body.isRepeatable
  const policy = isRepeatable ? settings.retry : retryPresets.disabled
  budget.call()
  try {
    for (let number = 1; ; number++) {
      const isWhole = !whole && totalTimeoutMs <= endpoint.timeoutMs
      const deadline = new Deadline(clock, isWhole ? totalTimeoutMs : endpoint.timeoutMs, whole ?? ending)
      let failure: unknown
      try {
        const info = new AttemptInfo(calling, number, deadline)
        const preparation = (number === 1 && prepared) || prepare(request, () => info, preparing)
        const outgoing = isPromise(preparation)
          ? await unlessAborted(preparation, deadline.signal)
          : preparation
        progress.sent = outgoing
        return await breaker.run(() => {
          progress.attempts = number
          counters.requests++
          if (number > 1) counters.retries++
          return observed(calling, info, outgoing, deadline)
        })
      } catch (error) {
        failure = error
      } finally {
        deadline.stop()
      }
      const isOver = (whole ?? (isWhole ? deadline : ending))?.aborted
      const { method } = endpoint
      const retry = { policy, method, clock, random, endsAt }
      // The upstream has done nothing, and each credential is renewed once: neither the policy nor the budget is asked.
      const mayRenew: boolean = renewsCredential(failure, progress, preparing) && isRepeatable && !isRenewed
      isRenewed ||= mayRenew
      const delay = isOver ? undefined : mayRenew ? 0 : retryDelay(failure, number, retry)
      if (delay === undefined || (!mayRenew && !budget.take())) throw failure
      whole ??= new Deadline(clock, totalTimeoutMs, ending, Math.max(0, endsAt - clock.now()))
      await wait(clock, delay, whole)
    }
  } finally {
    whole?.stop()
  }
}

function renewsCredential(failure: unknown, { sent }: Progress, { interceptors }: PrepareSettings): boolean {
  if (faultOf(failure).code !== 'UNAUTHENTICATED') return false
  return interceptors.filter((one) => one.onUnauthorized?.(sent?.headers ?? {})).length > 0
}

async function observed(
  { endpoint, settings, progress, isConditional, caller }: Calling,
  info: CallInfo,
  prepared: WireRequest,
  ending: Ending,
): Promise<RestResponse> {
  const { answer } = endpoint.declared
  const { logBody, observe, attempting } = settings
  const onBody = logBody && loggedBodies(logBody, info, prepared)
  const onRedirect = (): void => void (progress.outcome = 'unknown')
  const ended = observe?.(info)
  const { headers } = prepared
  const request = ended?.headers ? { ...prepared, headers: { ...headers, ...ended.headers } } : prepared
  const call = { answer, isConditional, caller, onBody, onRedirect }
  const { within } = ended ?? {}
  try {
    const response = await (within
      ? within(() => attempt(request, ending, attempting, call))
      : attempt(request, ending, attempting, call))
    ended?.({ status: response.status })
    return response
  } catch (error) {
    const { outcome, code, isCounted } = faultOf(error)
    if (outcome === 'unknown') progress.outcome = 'unknown'
    const status = error instanceof BadStatus ? error.status : undefined
    const hasLeft = ending.aborted && !(ending.reason instanceof DeadlineExceeded)
    const isUnavailable = isCounted && (code === 'SERVICE_UNAVAILABLE' || code === 'TIMEOUT')
    ended?.({ status, error, isUnavailable, callerLeft: status === undefined && hasLeft })
    throw error
  }
}

/** Logs the body of a request, and returns what logs that of its answer. */
function loggedBodies(
  logBody: LogBody,
  info: CallInfo,
  sent: WireRequest,
): NonNullable<AttemptCall['onBody']> {
  const facts = { connector: info.connector, endpoint: info.endpoint, attempt: info.attempt }
  const { method, headers, body } = sent
  if (typeof body === 'string') logBody('REST request', { ...facts, method }, headers['content-type'], body)
  return (status, contentType, body) => logBody('REST response', { ...facts, status }, contentType, body)
}
