import type { GatewayConfig } from '../config/types.ts'
import { deadlinesOf } from '../http/deadlines.ts'

/** Says of each source whose calls may take longer than an answer may take to begin that it is cut off before. */
export function lateBackends({
  server = {},
  rest = {},
  grpc = {},
}: GatewayConfig): readonly { readonly source: string; readonly note: string }[] {
  const { answerTimeoutMs } = deadlinesOf(server)
  if (answerTimeoutMs === 0) return []
  const timeouts = [
    ...Object.entries(rest).map(([name, { timeoutMs, totalTimeoutMs, endpoints = [] }]) => ({
      source: name,
      setting: `rest.${name}`,
      longest: longestOf([timeoutMs, totalTimeoutMs, ...endpoints.map((one) => one.timeoutMs)]),
    })),
    ...Object.entries(grpc).map(([name, { timeoutMs, methods = {} }]) => ({
      source: name,
      setting: `grpc.${name}`,
      longest: longestOf([timeoutMs, ...Object.values(methods).map((one) => one.timeoutMs)]),
    })),
  ]
  return timeouts
    .filter(({ longest }) => longest > answerTimeoutMs)
    .map(({ source, setting, longest }) => ({
      source,
      note: `${setting}: its calls may take ${longest} ms, and server.answerTimeoutMs ends an answer that has not begun after ${answerTimeoutMs} ms; make that the longer one`,
    }))
}

function longestOf(timeouts: readonly (number | undefined)[]): number {
  return Math.max(0, ...timeouts.map((ms) => ms ?? 0))
}
