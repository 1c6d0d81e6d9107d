import type { RestConnectorOptions } from '@vinyasa/rest-connector'
import { reasonOf } from '../../errors.ts'
import type { Outage } from '../../logging/outage.ts'
import { type CallKind, endedBy, type ObserveBackendCall } from '../../observability/backend-call.ts'

const KIND: CallKind = {
  name: 'rest',
  spanName: (source, call) => `${source}.${call}`,
  spanAttributes: (call) => ({ 'vinyasa.endpoint': call }),
  statusAttribute: 'http.response.status_code',
}

/** For the `observe` option of a REST connector, which is told of each attempt. */
export function forRest(
  observe: ObserveBackendCall,
  outage: Outage,
): NonNullable<RestConnectorOptions['observe']> {
  return ({ connector, endpoint, attempt, context }) => {
    const ended = observe({ source: connector, kind: KIND, name: endpoint, context })
    return endedBy(ended, ({ status, error, isUnavailable, callerLeft = false }) => {
      if (isUnavailable && !callerLeft)
        outage.failed(error, status === undefined ? reasonOf : () => `HTTP ${status}`)
      else if (status !== undefined) outage.worked()
      return {
        status: status === undefined ? 'no answer' : String(status),
        failed: error !== undefined && !callerLeft,
        retries: attempt > 1 ? 1 : 0,
      }
    })
  }
}
