import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

export interface Usage {
  /** User and system, since the process began. */
  readonly cpuMs: number
  readonly rssBytes: number
}

/** What a process has used, read from outside so that it need not help. Linux alone has `/proc`. */
export function usageOf(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name, in parentheses, may hold spaces. Fields 14 and 15 are ticks of user and system time, 24 is pages.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const field = (number: number): number => Number(fields[number - 3])
  return {
    cpuMs: ((field(14) + field(15)) * 1000) / configured('CLK_TCK'),
    rssBytes: field(24) * configured('PAGESIZE'),
  }
}

function configured(name: 'CLK_TCK' | 'PAGESIZE'): number {
  return Number(execFileSync('getconf', [name], { encoding: 'utf8' }))
}
