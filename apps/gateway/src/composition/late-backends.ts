import type { GatewayConfig } from '../config/types.ts'
import { deadlinesOf } from '../http/deadlines.ts'
import { declaredSources } from '../sources/kinds.ts'

/** Says of each source whose calls may take longer than an answer may take to begin that it is cut off before. */
export function lateBackends(config: GatewayConfig): readonly Note[] {
  const { answerTimeoutMs } = deadlinesOf(config.server ?? {})
  return declaredSources(config)
    .filter(({ longestCallMs }) => answerTimeoutMs > 0 && longestCallMs > answerTimeoutMs)
    .map(({ section, name, longestCallMs }) => ({
      source: name,
      note: `${section}.${name}: calls to this source can take up to ${longestCallMs} ms, but server.answerTimeoutMs ends requests whose response has not started after ${answerTimeoutMs} ms; raise server.answerTimeoutMs, or lower the timeouts of the source`,
    }))
}

/** A note on something that may not be as it was meant. */
export interface Note {
  readonly source: string
  readonly note: string
}
