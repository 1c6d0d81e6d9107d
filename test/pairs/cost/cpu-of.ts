import { readdirSync, readFileSync } from 'node:fs'

/** Nanoseconds of CPU that all threads of a process have had, as Linux counts them. */
export function cpuOf(pid: number): number {
  let total = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      total += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
    } catch {
      // It has ended.
    }
  }
  return total
}
