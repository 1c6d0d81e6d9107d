/** What may end a call: the execution (a deferred part timed out) as well as the request (its client left). */
export function signalsOf(context: unknown, ofExecution: unknown): AbortSignal[] {
  const ofRequest = (context as { request?: { signal?: unknown } } | null | undefined)?.request?.signal
  return [...new Set([ofExecution, ofRequest])].filter((signal) => signal instanceof AbortSignal)
}
