import { readFileSync } from 'node:fs'

/** Of a process's main thread, in milliseconds since it began. */
export interface ProcessorTime {
  readonly usedMs: number
  /** It was ready to run, and other work had the processors. */
  readonly waitedMs: number
}

/** As Linux has it (Documentation/scheduler/sched-stats.rst). Nothing, where the system does not say. */
export function processorTime(pid: number): ProcessorTime {
  try {
    const [used, waited] = readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ').map(Number)
    return { usedMs: used! / 1e6, waitedMs: waited! / 1e6 }
  } catch {
    return { usedMs: 0, waitedMs: 0 }
  }
}

/** How much of the processor time that a process wanted since `before` it was given, 0 to 1. */
export function shareSince(before: ProcessorTime, pid: number): number {
  const { usedMs, waitedMs } = processorTime(pid)
  const used = usedMs - before.usedMs
  const wanted = used + waitedMs - before.waitedMs
  return wanted > 0 ? used / wanted : 1
}
