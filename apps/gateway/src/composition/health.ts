import { rememberBriefly } from '../http/probes.ts'
import type { Source, SourceHealth } from '../sources/source.ts'

const READINESS_TIMEOUT_MS = 2000
const REMEMBERED_MS = 1000

export interface Health {
  /** Asks every source. */
  of(signal: AbortSignal): Promise<readonly SourceHealth[]>
  /** Whether requests may be sent here. */
  isReady(): Promise<boolean>
  /** From now on it is not ready. */
  startDraining(): void
}

export function createHealth(sources: readonly Source[]): Health {
  const of = (signal: AbortSignal): Promise<SourceHealth[]> =>
    Promise.all(sources.map((source) => source.health(signal)))
  const areSourcesHealthy = rememberBriefly(async () => {
    const reports = await of(AbortSignal.timeout(READINESS_TIMEOUT_MS))
    return reports.every((source) => source.healthy)
  }, REMEMBERED_MS)
  let draining = false
  return {
    of,
    isReady: async () => !draining && areSourcesHealthy(),
    startDraining() {
      draining = true
    },
  }
}
