import type { Worker } from 'node:cluster'

type Handle = { readonly close?: () => void } | undefined

/**
 * Closes the connection that a worker was handed and did not take before it ended. Node (20 to 24,
 * lib/internal/cluster/round_robin_handle.js) sends a worker one connection at a time by `process.send`, closes its own end
 * when the worker has answered, and forgets it when the worker dies: that client would wait for ever.
 */
export function closeUntaken(worker: Worker): void {
  const { process } = worker
  const send = process.send.bind(process) as (
    message: unknown,
    handle?: Handle,
    ...rest: unknown[]
  ) => boolean
  let last: Handle
  process.send = (message: unknown, handle?: unknown, ...rest: unknown[]): boolean => {
    if (handle) last = handle as Handle
    return send(message, handle as Handle, ...rest)
  }
  // A connection that was taken is closed already; closing it once more does nothing.
  worker.once('exit', () => last?.close?.())
}
