import type { SourceSections } from '../sources/types.ts'
import { rememberBriefly } from '../http/probes.ts'
import type { Source, SourceHealth } from '../sources/source.ts'

const READINESS_TIMEOUT_MS = 2000
const REMEMBERED_MS = 1000

export interface Health {
  /** Asks every source. */
  of(signal: AbortSignal): Promise<readonly SourceHealth[]>
  /** Whether requests may be sent here. */
  isReady(): Promise<boolean>
  readonly isDraining: boolean
  /** From now on it is not ready. */
  startDraining(): void
}

/** Only sources that the config calls `required` count for readiness: any other may fail without taking all replicas out. */
export function createHealth(sources: readonly Source[], config: SourceSections): Health {
  const of = (signal: AbortSignal, asked = sources): Promise<SourceHealth[]> =>
    Promise.all(asked.map((source) => source.health(signal)))
  const required = sources.filter(({ kind, name }) => config[kind]?.[name]?.required)
  const areSourcesHealthy = rememberBriefly(async () => {
    const reports = await of(AbortSignal.timeout(READINESS_TIMEOUT_MS), required)
    return reports.every((source) => source.healthy)
  }, REMEMBERED_MS)
  let draining = false
  return {
    of: (signal) => of(signal),
    get isDraining() {
      return draining
    },
    isReady: async () => !draining && areSourcesHealthy(),
    startDraining() {
      draining = true
    },
  }
}
