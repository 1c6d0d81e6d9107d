import type { GatewayConfig } from '../config/types.ts'
import { deadlinesOf } from '../http/deadlines.ts'

/** Says of each source whose calls may take longer than an answer may take to begin that it is cut off before. */
export function lateBackends({ server = {}, rest = {}, grpc = {} }: GatewayConfig): readonly Note[] {
  const { answerTimeoutMs } = deadlinesOf(server)
  const noteOf = (section: string, source: string, timeouts: readonly (number | undefined)[]): Note[] => {
    const longest = Math.max(0, ...timeouts.map((ms) => ms ?? 0))
    if (answerTimeoutMs === 0 || longest <= answerTimeoutMs) return []
    const note = `${section}.${source}: its calls may take ${longest} ms, and server.answerTimeoutMs ends an answer that has not begun after ${answerTimeoutMs} ms; make that the longer one`
    return [{ source, note }]
  }
  return [
    ...Object.entries(rest).flatMap(([name, { timeoutMs, totalTimeoutMs, endpoints = [] }]) =>
      noteOf('rest', name, [timeoutMs, totalTimeoutMs, ...endpoints.map((one) => one.timeoutMs)]),
    ),
    ...Object.entries(grpc).flatMap(([name, { timeoutMs, methods = {} }]) =>
      noteOf('grpc', name, [timeoutMs, ...Object.values(methods).map((one) => one.timeoutMs)]),
    ),
  ]
}

/** A note on something that may not be as it was meant. */
export interface Note {
  readonly source: string
  readonly note: string
}
