import { readFileSync } from 'node:fs'

/**
 * Share of the files that the process may have open that is left for backends, logs and what Node itself
 * opens.
 */
const LEFT_FOR_OTHERS = 1 / 4

/**
 * Connections that there are file descriptors for; undefined where the system does not say (it does on Linux). A process
 * without descriptors accepts nobody, and reaches no backend.
 */
export function connectionsPossible(limits: string = readLimits()): number | undefined {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  return soft === undefined ? undefined : Math.max(1, Math.floor(Number(soft) * (1 - LEFT_FOR_OTHERS)))
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'latin1')
  } catch {
    return ''
  }
}
