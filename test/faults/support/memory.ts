import { readFileSync } from 'node:fs'

/** Resident memory of a process, as Linux counts it. */
export function residentMb(pid: number): number {
  const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kb) / 1_024
}
